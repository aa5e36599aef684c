import { html } from '@tollgate/http'
import { renderDocument, renderHiddenFields } from '../http/document.ts'
import { renderClientName } from './approval.ts'
import type { PageText } from './messages/messages.ts'
import type { SignedOutView, SignOutView } from './pages.ts'

/**
 * Renders the page that asks whether to sign out. It is needed because another site may have sent
 * the person here.
 */
export function renderSignOutPage(view: SignOutView, t: PageText): string {
  const { client, destination, problem, action, fields } = view
  const who = client
    ? html`${t.parts('signOut.byApplication', { application: renderClientName({ client }) })}`
    : t('signOut.text')
  const where =
    destination &&
    html`\n<p class="note">${t.parts('signOut.destination', { destination: html`<strong>${destination}</strong>` })}</p>`
  const why = problem && html`\n<p class="note">${t('signOut.stayHere', { problem })}</p>`
  return renderDocument(
    { title: t('signOut.title'), language: t.language, stylesheet: 'pages.css' },
    html`<h1>${t('signOut.title')}</h1>
<p>${who}</p>${where}${why}
<form method="post" action="${action}">
${renderHiddenFields(Object.entries(fields))}
<button name="decision" value="stay">${t('signOut.stay')}</button>
<button class="primary" name="decision" value="sign_out">${t('signOut.button')}</button>
</form>`,
  )
}

/** Renders the result if the person is not redirected to a client. */
export function renderSignedOutPage({ stillSignedIn }: SignedOutView, t: PageText): string {
  const page = stillSignedIn ? 'stillSignedIn' : 'signedOut'
  return renderDocument(
    { title: t(`${page}.title`), language: t.language, stylesheet: 'pages.css' },
    html`<h1>${t(`${page}.heading`)}</h1>\n<p>${t(`${page}.text`)}</p>`,
  )
}
