import { html } from '@tollgate/http'
import { renderEvent } from '../../stripe/state/events.ts'
import { renderChangeList, renderJson } from '../parts/code.ts'
import {
  renderEmptyNote,
  renderObjectLink,
  renderStatusBadge,
  renderTime,
} from '../parts/elements.ts'
import { renderTable } from '../parts/table.ts'
import { diffObjects, undoChanges } from '../story/diff.ts'
import { definePage, type PageRequest } from './page.ts'

interface EventData {
  readonly object: Record<string, unknown> & { readonly id?: string }
  readonly previous_attributes?: Record<string, unknown>
}

function read({ sandbox, params }: PageRequest) {
  const context = sandbox.stripe?.context
  const row = context?.tables.event.get(params.id ?? '')
  if (!context || !row) return null
  const event = renderEvent(context, row, 0)
  const { object, previous_attributes: previous } = event.data as EventData
  return {
    event,
    changes: previous ? diffObjects(undoChanges(object, previous), object) : [],
    deliveries: sandbox.outbox
      .deliveries({ eventId: row.id })
      .map(({ body: _body, ...each }) => each),
  }
}

export const eventPage = definePage(read, ({ event, changes, deliveries }) => {
  const { object } = event.data as EventData
  const { request } = event as { request?: { id: string | null } | null }
  return {
    title: String(event.type),
    lead: html`${renderTime(new Date(Number(event.created) * 1000).toISOString())}, caused by ${request?.id ? html`the call <code>${request.id}</code>` : 'the clock or the sandbox'}${object.id !== undefined && html`, about ${renderObjectLink(object.id)}`}`,
    body: html`<div class="aside"><section class="card"><h2>Event</h2>${renderJson(event, 'Event')}</section>
<div class="stack"><section class="card"><h2>What changed</h2>${changes.length > 0 ? renderChangeList(changes) : renderEmptyNote('The event contains no changes.')}</section>
<section class="card"><h2>Webhooks</h2>${
      deliveries.length > 0
        ? renderTable('Webhooks', deliveries, {
            To: ({ id, url }) => html`<a href="/webhooks/${id}">${url}</a>`,
            State: ({ state }) => renderStatusBadge(state),
          })
        : renderEmptyNote('No endpoint receives this event.')
    }</section></div></div>`,
  }
})
