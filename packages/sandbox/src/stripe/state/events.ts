import { createHmac } from 'node:crypto'
import type { Delivery } from '../../core/outbox.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { StripeContext } from './context.ts'
import { nowOf } from './context.ts'
import { type EventRequest, type NewEvent, toldBy } from './new-event.ts'
import type { EventRow, WebhookEndpointRow } from './rows.ts'

const DAY = 86_400
/** Time caused it. */
const NOBODY = { id: null, idempotency_key: null }

/**
 * Stores the events of a step and sends each to every endpoint that asked for its type. They are made in the sandbox's
 * own time, as Stripe makes them in real time; `at` is what time it was on the test clock it happened by.
 */
export function recordEvents(
  context: StripeContext,
  events: readonly NewEvent[],
  request: EventRequest | null,
  at: number | null,
): void {
  const { packers, store, tables } = context
  const created = nowOf(context)
  const by = request ? { id: request.id, idempotency_key: request.idempotencyKey } : NOBODY
  const enabled = enabledEndpoints(context)
  const rows = events.map(({ type, data, previous }): EventRow => {
    const endpoints = enabled.filter((endpoint) => isWanted(type, endpoint)).length
    const id = store.nextId('evt_')
    return { id, object: 'event', type, created, data, previous, request: by, endpoints }
  })
  if (at !== null) for (const row of rows) row.at = at
  // Few events are ever read. Until then they stay packed.
  const ids = rows.map(({ id }) => id)
  tables.event.addTogether(ids, packers.events.together(rows), created)
  for (const row of rows) {
    if (row.endpoints > 0) sendEvent(context, row, enabled)
  }
}

function enabledEndpoints({ tables }: StripeContext): WebhookEndpointRow[] {
  if (tables.webhook_endpoint.size === 0) return []
  return [...tables.webhook_endpoint.values()].filter(({ status }) => status === 'enabled')
}

function isWanted(type: string, { enabled_events }: WebhookEndpointRow): boolean {
  return enabled_events.includes('*') || enabled_events.includes(type)
}

function sendEvent(
  context: StripeContext,
  row: EventRow,
  endpoints: readonly WebhookEndpointRow[],
): void {
  const bodies = new Map<string, string>()
  for (const endpoint of endpoints) {
    if (!isWanted(row.type, endpoint)) continue
    const version = endpoint.api_version ?? context.apiVersion
    const body = bodies.get(version) ?? bodyOf(context, row, version)
    bodies.set(version, body)
    context.outbox.enqueue({
      provider: 'stripe',
      eventId: row.id,
      eventType: row.type,
      url: endpoint.url,
      endpointId: endpoint.id,
      headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Stripe/1.0' },
      body,
    })
  }
}

function bodyOf(context: StripeContext, row: EventRow, version: string): string {
  return JSON.stringify(context.tellEvent(renderPinned(row, row.endpoints), version), null, 2)
}

/** An event as it is read: in the account's version, whatever the call's is. */
export function renderEvent(
  context: StripeContext,
  row: EventRow,
  pendingWebhooks: number,
): WireObject {
  return context.tellEvent(renderPinned(row, pendingWebhooks), context.apiVersion)
}

function renderPinned(row: EventRow, pendingWebhooks: number): WireObject {
  const { data, previous } = toldBy(row)
  return {
    id: row.id,
    object: 'event',
    api_version: API_VERSION,
    created: row.created,
    data: {
      object: copyJson(data),
      ...(previous === null ? {} : { previous_attributes: copyJson(previous) }),
    },
    livemode: false,
    pending_webhooks: pendingWebhooks,
    request: row.request,
    type: row.type,
  }
}

/** `t=…,v1=…`: the moment of sending, and HMAC-SHA256 over it and the body. */
export function signStripeDelivery(
  context: StripeContext,
): (delivery: Delivery, at: Date) => Record<string, string> {
  return (delivery, at) => {
    const endpoint = context.tables.webhook_endpoint.get(delivery.endpointId ?? '')
    if (!endpoint) return {}
    const timestamp = Math.floor(at.getTime() / 1000)
    const signature = createHmac('sha256', endpoint.$.secret)
      .update(`${timestamp}.${delivery.body}`)
      .digest('hex')
    return { 'stripe-signature': `t=${timestamp},v1=${signature}` }
  }
}

const FORGOTTEN_AT = new WeakMap<StripeContext, number>()

/** Stripe keeps events for 30 days. */
export function forgetOldEvents(context: StripeContext): void {
  const now = nowOf(context)
  if (FORGOTTEN_AT.get(context) === now) return
  FORGOTTEN_AT.set(context, now)
  const limit = now - context.keepEventsForDays * DAY
  const { packers, tables } = context
  tables.event.deleteOldest((kept) => packers.events.createdOf(kept) < limit)
}
