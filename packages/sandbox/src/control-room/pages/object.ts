import { type Html, html } from '@tollgate/http'
import { renderChangeList, renderJson } from '../parts/code.ts'
import {
  buildCustomerPath,
  formatProviderLabel,
  renderBreakableName,
  renderEmptyNote,
  renderStatusBadge,
  renderTime,
} from '../parts/elements.ts'
import { findObject } from '../story/find-object.ts'
import { type ObjectVersion, readObjectHistory } from '../story/history.ts'
import { definePage, type PageRequest } from './page.ts'

function read({ sandbox, params, query }: PageRequest) {
  const id = params.id ?? ''
  const merchant = query.get('merchant')
  const found = findObject(sandbox, id, merchant)
  const { versions: history, last } = readObjectHistory(sandbox, { id, merchant, found })
  return found || history.length > 0 ? { id, found, history, last: found ? null : last } : null
}

export const objectPage = definePage(read, ({ id, found, history, last }) => {
  const shown = found?.object ?? last
  const { status, customer, customerId } = (found?.object ?? {}) as Record<string, unknown>
  const owner = customer ?? customerId
  const link =
    found && typeof owner === 'string'
      ? html` · <a href="${buildCustomerPath({ ...found, id: owner })}">its customer</a>`
      : ''
  const isCustomer = found?.kind === 'customer' || found?.kind === 'customers'
  const own = found && isCustomer ? html` · <a href="${buildCustomerPath(found)}">timeline</a>` : ''
  return {
    title: id,
    ...(typeof status === 'string' ? { badge: renderStatusBadge(status) } : {}),
    lead: found
      ? html`${formatProviderLabel(found)} · ${wordsOf(found.kind)}${link}${own}`
      : 'This object was deleted. The page shows its last known state.',
    body: html`<div class="two"><section class="card"><h2>${found ? 'Present state' : 'Last known state'}</h2>${shown ? renderJson(shown, 'The object') : renderEmptyNote('Deleted.')}</section>
<section class="card"><h2>History</h2>${history.length > 0 ? versions(history) : renderEmptyNote('No earlier version is known.')}</section></div>`,
  }
})

function versions(history: readonly ObjectVersion[]): Html {
  return html`<ol class="timeline">${history.map(
    ({ at, cause, eventId, changes, isEnd }, index) =>
      html`<li><div class="when">${renderTime(at)}</div><div class="what"><h3>${eventId === null ? cause : html`<a href="/events/${eventId}">${renderBreakableName(cause)}</a>`}</h3>${
        changes.length > 0
          ? renderChangeList(changes, 12)
          : html`<p class="quiet">${isEnd ? 'deleted' : index === history.length - 1 ? 'first known version' : 'no changes'}</p>`
      }</div></li>`,
  )}</ol>`
}

/** Returns a table's name in words: `payment method` for `paymentMethods`. */
function wordsOf(kind: string): string {
  return kind
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/s$/, '')
}
