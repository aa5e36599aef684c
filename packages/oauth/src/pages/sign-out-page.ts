import { documentOf, escapeHtml } from '../http/document.ts'
import type { SignedOutView, SignOutView } from './pages.ts'

/** Asks a person whether to sign out: another site may have sent them here. */
export function signOutPage(view: SignOutView): string {
  const { client, destination, problem, action, fields } = view
  const who = client
    ? `<p><bdi>${escapeHtml(client.name)}</bdi> asks to sign you out here, and where you are signed in by it.</p>`
    : '<p>You will be signed out here, and at the applications where you are signed in by it.</p>'
  const where =
    destination === null
      ? ''
      : `\n<p class="note">Afterwards you will be sent to <strong>${escapeHtml(destination)}</strong>.</p>`
  const why =
    problem === null ? '' : `\n<p class="note">${escapeHtml(problem)} You will stay here.</p>`
  const hidden = Object.entries(fields).map(
    ([name, value]) =>
      `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  )
  return documentOf(
    'Sign out?',
    'pages.css',
    `<h1>Sign out?</h1>
${who}${where}${why}
<form method="post" action="${escapeHtml(action)}">
${hidden.join('\n')}
<button class="primary" name="decision" value="sign_out">Sign out</button>
<button name="decision" value="stay">Stay signed in</button>
</form>`,
  )
}

/** Where nobody waits for the person at another address. */
export function signedOutPage({ stillSignedIn }: SignedOutView): string {
  return stillSignedIn
    ? documentOf(
        'Still signed in',
        'pages.css',
        '<h1>You are still signed in</h1>\n<p>Nothing has changed. You can close this page.</p>',
      )
    : documentOf(
        'Signed out',
        'pages.css',
        '<h1>You are signed out</h1>\n<p>You can close this page.</p>',
      )
}
