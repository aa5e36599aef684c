import { escapeHtml } from '@tollgate/oauth'

/** Your own sign-in page. It keeps `return_to`, the URL to continue with. */
export function loginPage(returnTo: unknown, problem = ''): string {
  return page(
    'Sign in',
    `<p role="alert">${escapeHtml(problem)}</p>
<form method="post" action="/login">
<input type="hidden" name="return_to" value="${escapeHtml(typeof returnTo === 'string' ? returnTo : '/')}">
<p><label>E-mail <input name="email" type="email" autocomplete="username" required></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<button>Sign in</button></form>`,
  )
}

/** A page whose script may call the API: it contains the CSRF token of cookie mode. */
export function startPage(csrfToken: string | null | undefined): string {
  if (!csrfToken) return page('Tollgate example', '<a href="/login">Sign in</a>')
  const meta = `<meta name="csrf-token" content="${escapeHtml(csrfToken)}">`
  return page('Tollgate example', '<p>You are signed in.</p>', meta)
}

function page(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">${head}</head>
<body><h1>${title}</h1>
${body}</body></html>`
}
