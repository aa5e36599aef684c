/** What the approval screen and the page of a device have in common. */
import { escapeHtml } from '../http/document.ts'
import type { AskingApplication, ShownResource, ShownScope } from './pages.ts'

export function logoOf({ logo }: AskingApplication): string {
  if (logo === null) return ''
  return `<img class="logo" src="${escapeHtml(logo)}" alt="" width="64" height="64">\n`
}

/** Who has registered it, and whether anybody has looked at it. Names of other people are not ours to tell. */
export function originOf(view: AskingApplication & { readonly userId: string }): string {
  const { client, selfRegistered, verified } = view
  if (client.userId === view.userId) return note('You have registered this application yourself.')
  const host = selfRegistered?.host
    ? ` from <strong>${escapeHtml(selfRegistered.host)}</strong>`
    : ''
  if (verified && !selfRegistered && client.userId === null) {
    return note('This application was registered by those who run this server.')
  }
  if (verified) {
    const how = selfRegistered ? 'registered itself' : 'was registered by another user'
    return note(`This application${host} ${how}, and was verified by those who run this server.`)
  }
  const owner = selfRegistered ? 'It registered itself' : 'Another user has registered it'
  return `<p class="warning">This application${host} is <strong>unverified</strong>: nobody here has looked at it. ${owner}, and it may not be what its name says.</p>`
}

function note(text: string): string {
  return `<p class="note">${text}</p>`
}

/** Which APIs the access is for, where it is not for this server. */
export function resourcesOf({
  resources,
}: {
  readonly resources: readonly ShownResource[]
}): string {
  if (resources.length === 0) return ''
  const named = resources.map(({ uri, name }) => {
    const address = `<strong>${escapeHtml(uri)}</strong>`
    return name === null ? address : `<bdi>${escapeHtml(name)}</bdi> (${address})`
  })
  return `<p class="note">The access is for ${named.join(' and for ')}.</p>\n`
}

/** Inside the form: what goes with the approval, and what people may leave out. */
export function scopesOf(scopes: readonly ShownScope[]): string {
  if (scopes.length === 0) return '<p>It asks for no further permissions.</p>'
  const fixed = scopes.filter(({ checkbox }) => checkbox === null)
  const optional = scopes.filter(({ checkbox }) => checkbox !== null)
  return [fixedList(fixed), choice(optional, fixed.length > 0)].filter(Boolean).join('\n')
}

function fixedList(scopes: readonly ShownScope[]): string {
  if (scopes.length === 0) return ''
  const items = scopes.map(({ description }) => `<li>${escapeHtml(description)}</li>`)
  return `<div>\n<p>It will be able to:</p>\n<ul>\n${items.join('\n')}\n</ul>\n</div>`
}

function choice(scopes: readonly ShownScope[], isMore: boolean): string {
  if (scopes.length === 0) return ''
  const fields = scopes.map(({ description, checkbox }) => {
    if (checkbox === null) return ''
    const { name, value, checked } = checkbox
    const input = `<input type="checkbox" name="${escapeHtml(name)}" value="${escapeHtml(value)}"${checked ? ' checked' : ''}>`
    return `<label class="choice">${input} <span>${escapeHtml(description)}</span></label>`
  })
  const legend = isMore ? 'If you like, it may also:' : 'Choose what it will be able to do:'
  return `<fieldset>\n<legend>${legend}</legend>\n${fields.join('\n')}\n</fieldset>`
}

/** What the application itself says of what it does. */
export function readingOf({ policyUri, termsUri }: AskingApplication): string {
  const links = [
    { href: policyUri, words: 'privacy policy' },
    { href: termsUri, words: 'terms of service' },
  ].flatMap(({ href, words }) => (href === null ? [] : [linkTo(href, words)]))
  return links.length > 0 ? `\n<p class="note">Read its ${links.join(' and its ')}.</p>` : ''
}

/** In a tab of its own, because the question stays; with its host, because the words are ours and the page is not. */
function linkTo(href: string, words: string): string {
  const host = escapeHtml(new URL(href).host)
  return `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer">${words}</a> at ${host}`
}

export const BUTTONS = `<button class="primary" name="decision" value="approve">Approve</button>
<button name="decision" value="deny">Deny</button>`

export function notYou(otherAccount: string): string {
  return `<p class="note">Not you? <a href="${escapeHtml(otherAccount)}">Sign in with another account</a></p>`
}
