/** The parts that the approval screen and the device page share. */
import { type Html, html } from '@tollgate/http'
import type { PageText } from './messages/messages.ts'
import type { ConsentView, DeviceQuestion, RequestingApplication, ShownScope } from './pages.ts'

type ApprovalPageView = ConsentView | DeviceQuestion

export function renderClientName({ client }: { readonly client: { readonly name: string } }): Html {
  return html`<bdi>${client.name}</bdi>`
}

/**
 * Renders the part that all approval pages share: the requesting application, the requested access,
 * and the buttons to deny and approve. Enter presses the first button, so that one must do no harm.
 */
export function renderApprovalForm(
  view: ApprovalPageView,
  t: PageText,
  texts: {
    readonly heading: Html
    readonly before?: Html
    readonly after?: Html
  },
): Html {
  const { logo, action, csrfToken, otherAccount } = view
  const link = html`<a href="${otherAccount}">${t('approve.otherAccount.link')}</a>`
  return html`${logo && html`<img class="logo" src="${logo}" alt="" width="64" height="64">\n`}<h1>${texts.heading}</h1>
${renderClientOrigin(view, t)}
${texts.before ?? null}<form method="post" action="${action}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
${renderResources(view, t)}${renderScopes(view.scopes, t)}${renderPolicyLinks(view, t)}
${texts.after ?? null}<button name="decision" value="deny">${t('approve.deny')}</button>
<button class="primary" name="decision" value="approve">${t('approve.button')}</button>
</form>
<p class="note">${t.parts('approve.otherAccount', { link })}</p>`
}

/**
 * Renders who registered the application and whether it is verified. Does not name the person who
 * registered it.
 */
function renderClientOrigin(
  { client, userId, selfRegistered, verified }: ApprovalPageView,
  t: PageText,
): Html {
  if (client.userId === userId) return html`<p class="note">${t('approve.own')}</p>`
  if (verified && !selfRegistered && client.userId === null) {
    return html`<p class="note">${t('approve.byOperator')}</p>`
  }
  const host = selfRegistered?.host ? html`<strong>${selfRegistered.host}</strong>` : null
  if (verified) {
    const texts = host
      ? t.parts('approve.verified.self.from', { host })
      : [t(selfRegistered ? 'approve.verified.self' : 'approve.verified.user')]
    return html`<p class="note">${texts}</p>`
  }
  const unverified = html`<strong>${t('approve.unverified.word')}</strong>`
  const warning = host
    ? t.parts('approve.unverified.self.from', { host, unverified })
    : t.parts(selfRegistered ? 'approve.unverified.self' : 'approve.unverified.user', {
        unverified,
      })
  return html`<p class="warning">${warning}</p>`
}

/** Renders the APIs that the access is for. `null` if it is only for the server's own API. */
function renderResources({ resources }: ApprovalPageView, t: PageText): Html | null {
  const named = resources.map(({ uri, name }) =>
    name === null
      ? html`<strong>${uri}</strong>`
      : html`<bdi>${name}</bdi> (<strong>${uri}</strong>)`,
  )
  const all = joinWithAnd(named, t)
  return all && html`<p class="note">${t.parts('approve.resources', { resources: all })}</p>\n`
}

/** Renders the scopes inside the form: fixed ones as a list, optional ones as checkboxes. */
function renderScopes(scopes: readonly ShownScope[], t: PageText): Html | readonly Html[] {
  if (scopes.length === 0) return html`<p>${t('approve.nothingElse')}</p>`
  const fixed = scopes
    .filter(({ checkbox }) => checkbox === null)
    .map(({ description }) => html`<li>${description}</li>`)
  const optional = scopes.flatMap(({ description, checkbox }) => {
    if (checkbox === null) return []
    const { name, value, checked } = checkbox
    const input = html`<input type="checkbox" name="${name}" value="${value}"${checked ? html` checked` : null}>`
    return [html`<label class="choice">${input} <span>${description}</span></label>`]
  })
  const legend = t(fixed.length > 0 ? 'approve.optional' : 'approve.choose')
  return [
    ...(fixed.length > 0
      ? [html`<div>\n<p>${t('approve.willBeAble')}</p>\n<ul>\n${fixed}\n</ul>\n</div>`]
      : []),
    ...(optional.length > 0
      ? [html`<fieldset>\n<legend>${legend}</legend>\n${optional}\n</fieldset>`]
      : []),
  ]
}

/** Renders links to the application's privacy policy and terms of service. */
function renderPolicyLinks(
  { policyUri, termsUri }: RequestingApplication,
  t: PageText,
): Html | null {
  const links = [
    ...linkTo(policyUri, 'approve.privacyPolicy', t),
    ...linkTo(termsUri, 'approve.terms', t),
  ]
  const documents = joinWithAnd(links, t)
  return documents && html`\n<p class="note">${t.parts('approve.read', { documents })}</p>`
}

/**
 * Renders a link that opens in a new tab, because the approval screen has to stay open. Shows the
 * host, because the link text is ours but the page is not.
 */
function linkTo(
  href: string | null,
  id: 'approve.privacyPolicy' | 'approve.terms',
  t: PageText,
): Html[] {
  if (href === null) return []
  const link = html`<a href="${href}" target="_blank" rel="noopener noreferrer">${t(`${id}.link`)}</a>`
  return [html`${t.parts(id, { link, host: new URL(href).host })}`]
}

function joinWithAnd(all: readonly Html[], t: PageText): Html | null {
  const [first, ...rest] = all
  if (first === undefined) return null
  return rest.reduce((list, last) => html`${t.parts('list.and', { list, last })}`, first)
}
