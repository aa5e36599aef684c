import { documentOf, escapeHtml } from '../http/document.ts'
import type { ConsentView } from './pages.ts'

/** Asks a person to approve or deny what an application wants. */
export function consentPage(view: ConsentView): string {
  const scopes = view.scopes.map((scope) => `<li>${escapeHtml(scope.description)}</li>`).join('\n')
  const request = view.scopes.length
    ? `<p>It will be able to:</p>\n<ul>\n${scopes}\n</ul>`
    : '<p>It asks for no further permissions.</p>'
  const { selfRegistered } = view
  const host = selfRegistered?.host
    ? ` from <strong>${escapeHtml(selfRegistered.host)}</strong>`
    : ''
  const warning =
    selfRegistered && !selfRegistered.verified
      ? `\n<p class="note">This application${host} is <strong>unverified</strong>: it has registered itself, and may not be what its name says.</p>`
      : ''
  const logo =
    view.logo === null
      ? ''
      : `<img class="logo" src="${escapeHtml(view.logo)}" alt="" width="64" height="64">\n`
  const links = [
    { href: view.policyUri, words: 'privacy policy' },
    { href: view.termsUri, words: 'terms of service' },
  ].flatMap(({ href, words }) => (href === null ? [] : [linkTo(href, words)]))
  const reading =
    links.length > 0 ? `\n<p class="note">Read its ${links.join(' and its ')}.</p>` : ''
  const name = `<bdi>${escapeHtml(view.client.name)}</bdi>`
  return documentOf(
    'Approve access',
    view.action.replace(/\/authorize\?.*$/, '/pages.css'),
    `${logo}<h1>${name} asks for access to your account</h1>${warning}
${request}${reading}
<p class="note">Either way you will be sent to <strong>${escapeHtml(view.destination)}</strong>.</p>
<form method="post" action="${escapeHtml(view.action)}">
<input type="hidden" name="csrf_token" value="${escapeHtml(view.csrfToken)}">
<button class="primary" name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>
</form>`,
  )
}

/** In a tab of its own, because the question stays; with its host, because the words are ours and the page is not. */
function linkTo(href: string, words: string): string {
  const host = escapeHtml(new URL(href).host)
  return `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer">${words}</a> at ${host}`
}
