import { type Html, html } from '@tollgate/http'
import type { Delivery } from '../../core/outbox.ts'
import { listTriggers } from '../../fixtures/trigger.ts'
import { listEventReceivers } from '../../stripe/state/receivers.ts'
import {
  renderBreakableName,
  renderEmptyNote,
  renderReturnField,
  renderStatusBadge,
  renderTime,
} from '../parts/elements.ts'
import { renderTable } from '../parts/table.ts'
import { definePage, type PageRequest } from './page.ts'

const SHOWN = 100
const STATES = ['delivered', 'pending', 'failed', 'dropped'] as const

function read({ sandbox, query }: PageRequest) {
  const { outbox, stripe, braintree } = sandbox
  const state = STATES.find((each) => each === query.get('state')) ?? null
  const type = query.get('type') ?? ''
  const deliveries: Array<Omit<Delivery, 'body'>> = []
  for (const { body: _body, ...delivery } of outbox.newestFirst()) {
    if (deliveries.length >= SHOWN) break
    if (state !== null && delivery.state !== state) continue
    if (type === '' || delivery.eventType.includes(type)) deliveries.push(delivery)
  }
  const receivers = stripe
    ? listEventReceivers(stripe.context.tables).filter((each) => each.isEnabled)
    : []
  const handles = { stripe: stripe?.handle ?? null, braintree: braintree?.handle ?? null }
  return {
    state,
    type,
    endpoints: [
      ...receivers.map(({ url, secret, events }) => ({ provider: 'stripe', url, secret, events })),
      ...(braintree?.handle.webhooks().map((url) => {
        return { provider: 'braintree', url, secret: null, events: ['*'] }
      }) ?? []),
    ],
    switches: outbox.switches(),
    deliveries,
    triggers: listTriggers(handles),
  }
}

type Data = ReturnType<typeof read>

export const webhooksPage = definePage(read, (data, { path }) => ({
  title: 'Webhooks',
  lead: 'Webhooks to your application, with every delivery attempt.',
  body: html`<div class="stack"><div class="two"><section class="card"><h2>Endpoints</h2>${endpoints(data)}</section>
<section class="card"><h2>Trigger</h2><p class="quiet">Causes an event, so that its webhook is sent.</p>
<form class="line" method="post" action="/trigger">${renderReturnField(path)}<label>Event <select name="event">${data.triggers.map((each) => html`<option${each === 'invoice.paid' && html` selected`}>${each}</option>`)}</select></label>
<label>Customer (optional) <input name="customer" placeholder="a new one" size="18"></label><button class="primary">Trigger</button></form></section></div>
<section class="card"><h2>Deliveries</h2>${filter(data)}${deliveryTable(data, path)}</section></div>`,
}))

function endpoints({ endpoints }: Data): Html {
  if (endpoints.length === 0) {
    return html`<p class="empty">No endpoint is registered, so nothing is sent. Start the sandbox with <code>--stripe-webhook</code>, or register an endpoint through the API.</p>`
  }
  return html`${endpoints.map(
    ({ provider, url, secret, events }) =>
      html`<p>${provider} <code>${url}</code><br><small>${events.includes('*') ? 'all events' : events.join(', ')}</small>${secret !== null && html`<br><small>Secret <code>${secret}</code></small>`}</p>`,
  )}`
}

function filter({ state, type }: Data): Html {
  return html`<form class="line" method="get" action="/webhooks"><label class="grow">Type <input type="search" name="type" value="${type}" placeholder="invoice."></label>
<label>State <select name="state"><option value="">all</option>${STATES.map((each) => html`<option${each === state && html` selected`}>${each}</option>`)}</select></label><button>Show</button></form>`
}

function deliveryTable({ deliveries, state, type }: Data, path: string): Html {
  if (deliveries.length === 0) {
    return renderEmptyNote(state || type ? 'No webhooks match.' : 'No webhooks yet.')
  }
  return renderTable('Deliveries', deliveries, {
    Event: ({ id, eventType, url }) =>
      html`<a href="/webhooks/${id}">${renderBreakableName(eventType)}</a><br><small>${renderBreakableName(url)}</small>`,
    State: ({ state, corrupt, duplicate }) =>
      html`${renderStatusBadge(state)}${duplicate && html` <small>copy</small>`}${corrupt && html` <small>corrupted once</small>`}`,
    Attempts: ({ attempts, dueAt }) => {
      const last = attempts.at(-1)
      const result =
        last &&
        `${attempts.length > 1 ? `${attempts.length}, last ` : ''}${last.status ?? last.error}`
      return html`${result ?? html`<small>none yet</small>`}${dueAt !== null && html`<br><small>next ${renderTime(new Date(dueAt).toISOString())}</small>`}`
    },
    Created: ({ createdAt }) => renderTime(new Date(createdAt).toISOString()),
    Action: ({ id, eventType }) =>
      html`<form method="post" action="/redeliver">${renderReturnField(path)}<input type="hidden" name="id" value="${id}"><button class="small">Send again<span class="unseen">: ${eventType} ${id}</span></button></form>`,
  })
}
