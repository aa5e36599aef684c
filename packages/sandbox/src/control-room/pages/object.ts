import { type Html, html } from '../../core/html.ts'
import { breakable, customerPath, empty, moment, placeName, statusBadge } from '../parts/bits.ts'
import { changeList, jsonView } from '../parts/code.ts'
import { findObject } from '../story/find-object.ts'
import { historyOf, type Version } from '../story/history.ts'
import { type Ask, definePage } from './page.ts'

function read({ watched, params, query }: Ask) {
  const id = params.id ?? ''
  const merchant = query.get('merchant')
  const found = findObject(watched, id, merchant)
  const { versions: history, last } = historyOf(watched, { id, merchant, found })
  return found || history.length > 0 ? { id, found, history, last: found ? null : last } : null
}

export const objectPage = definePage(read, ({ id, found, history, last }) => {
  const shown = found?.object ?? last
  const { status, customer, customerId } = (found?.object ?? {}) as Record<string, unknown>
  const owner = customer ?? customerId
  const link =
    found && typeof owner === 'string'
      ? html` · <a href="${customerPath({ ...found, id: owner })}">its customer</a>`
      : ''
  const isCustomer = found?.kind === 'customer' || found?.kind === 'customers'
  const own = found && isCustomer ? html` · <a href="${customerPath(found)}">timeline</a>` : ''
  return {
    title: id,
    ...(typeof status === 'string' ? { badge: statusBadge(status) } : {}),
    lead: found
      ? html`${placeName(found)} · ${wordsOf(found.kind)}${link}${own}`
      : 'It is gone; this is what is still known of it.',
    body: html`<div class="two"><section class="card"><h2>${found ? 'As it is now' : 'As it was last'}</h2>${shown ? jsonView(shown, 'The object') : empty('It was deleted.')}</section>
<section class="card"><h2>How it came to this</h2>${history.length > 0 ? versions(history) : empty('No version before this one is known.')}</section></div>`,
  }
})

function versions(history: readonly Version[]): Html {
  return html`<ol class="timeline">${history.map(
    ({ at, cause, eventId, changes, isEnd }, index) =>
      html`<li><div class="when">${moment(at)}</div><div class="what"><h3>${eventId === null ? cause : html`<a href="/events/${eventId}">${breakable(cause)}</a>`}</h3>${
        changes.length > 0
          ? changeList(changes, 12)
          : html`<p class="quiet">${isEnd ? 'deleted' : index === history.length - 1 ? 'the first that is known' : 'nothing changed'}</p>`
      }</div></li>`,
  )}</ol>`
}

/** `paymentMethods` is what the sandbox calls the table. */
function wordsOf(kind: string): string {
  return kind
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/s$/, '')
}
