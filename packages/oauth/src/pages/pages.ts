import type { Client } from '../storage/repositories.ts'

/** What a consent page shows, and what its form sends back. */
export interface ConsentView {
  /** Who asks. */
  readonly client: Pick<Client, 'id' | 'name' | 'userId'>
  /** Who is asked. */
  readonly userId: string
  /** What is asked for, with the words people read. */
  readonly scopes: ReadonlyArray<{ readonly id: string; readonly description: string }>
  /** Where the person will be sent: the host of the redirect, or the scheme of an app. */
  readonly destination: string
  /** Where approve and deny are posted to. */
  readonly action: string
  /** For the hidden field of the form. */
  readonly csrfToken: string
}

/** What an error page shows. */
export interface ErrorView {
  /** The HTTP status. */
  readonly status: number
  /** What went wrong, for people. Escape it. */
  readonly message: string
  /** What they can do about it, where there is something. */
  readonly hint: string | null
}

/** Replace one or both with your own; each gives a whole HTML document. No inline script or style. */
export interface Pages {
  /** Asks somebody to approve a client. */
  consent(view: ConsentView): string | Promise<string>
  /** Says what went wrong where no redirect is safe. */
  error(view: ErrorView): string | Promise<string>
  /** Sent at `/oauth/pages.css`, which the default pages link to. */
  readonly stylesheet: string
}

/** Makes text harmless in HTML, in attributes as well. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}

function documentOf(title: string, stylesheetUrl: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${escapeHtml(stylesheetUrl)}">
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}

function consent(view: ConsentView): string {
  const scopes = view.scopes.map((scope) => `<li>${escapeHtml(scope.description)}</li>`).join('\n')
  const request = view.scopes.length
    ? `<p>It will be able to:</p>\n<ul>\n${scopes}\n</ul>`
    : '<p>It asks for no further permissions.</p>'
  const name = `<bdi>${escapeHtml(view.client.name)}</bdi>`
  return documentOf(
    'Approve access',
    view.action.replace(/\/authorize\?.*$/, '/pages.css'),
    `<h1>${name} asks for access to your account</h1>
${request}
<p class="note">Either way you will be sent to <strong>${escapeHtml(view.destination)}</strong>.</p>
<form method="post" action="${escapeHtml(view.action)}">
<input type="hidden" name="csrf_token" value="${escapeHtml(view.csrfToken)}">
<button class="primary" name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>
</form>`,
  )
}

function error(view: ErrorView): string {
  const hint = view.hint === null ? '' : `\n<p class="note">${sentence(view.hint)}</p>`
  return documentOf(
    'Request refused',
    'pages.css',
    `<h1>This request cannot be completed</h1>
<p>${sentence(view.message)}</p>${hint}`,
  )
}

/** Messages for clients end without a full stop, those for people with one. */
function sentence(text: string): string {
  return escapeHtml(text.replace(/\.?$/, '.'))
}

const stylesheet = `:root { color-scheme: light dark; --line: #8885; --accent: #0b57d0; --on-accent: #fff }
@media (prefers-color-scheme: dark) { :root { --accent: #a8c7fa; --on-accent: #062e6f } }
body { margin: 0; font: 1.0625rem/1.5 system-ui, sans-serif }
main { max-width: 28rem; margin: 12vh auto 2rem; padding: 1.5rem 2rem; border: 1px solid var(--line); border-radius: .75rem }
h1 { font-size: 1.375rem; line-height: 1.3; margin: 0 0 1rem; overflow-wrap: anywhere }
ul { padding-left: 1.25rem }
.note { opacity: .8; font-size: .9375rem; overflow-wrap: anywhere }
form { display: flex; gap: .75rem; margin-top: 1.5rem }
button { flex: 1; min-height: 2.75rem; font: inherit; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit; cursor: pointer }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
@media (max-width: 32rem) { main { margin: 1rem; padding: 1.25rem } }
`

/** Plain pages without script, for applications that have none of their own. */
export const defaultPages: Pages = { consent, error, stylesheet }
