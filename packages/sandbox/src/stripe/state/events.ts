import { createHmac } from 'node:crypto'
import type { Delivery } from '../../core/outbox.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { StripeContext } from './context.ts'
import { nowOf } from './context.ts'
import type { EventRequest, NewEvent } from './new-event.ts'
import type { EventRow, WebhookEndpointRow } from './rows.ts'

const DAY = 86_400

/**
 * Stores an event and sends it to every endpoint that asked for its type. It is made in the sandbox's own time, as
 * Stripe makes them in real time; `at` is what time it was on the test clock it happened by.
 */
export function recordEvent(
  context: StripeContext,
  event: NewEvent,
  request: EventRequest | null,
  at: number | null,
): void {
  const endpoints = endpointsFor(context, event.type)
  const id = context.store.nextId('evt_')
  const { packers, tables } = context
  // Few events are ever read. Until then they stay packed.
  const now = nowOf(context)
  const packed = packers.events.newText(id, now, event, request, endpoints.length, at)
  tables.event.addPacked(id, packed, now)
  if (endpoints.length === 0) return
  const row = packers.events.fromText(packed)
  const bodies = new Map<string, string>()
  for (const endpoint of endpoints) {
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
  return {
    id: row.id,
    object: 'event',
    api_version: API_VERSION,
    created: row.created,
    data: {
      object: JSON.parse(row.data) as unknown,
      ...(row.previous === null
        ? {}
        : { previous_attributes: JSON.parse(row.previous) as unknown }),
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

function endpointsFor(context: StripeContext, type: string): WebhookEndpointRow[] {
  const found: WebhookEndpointRow[] = []
  for (const endpoint of context.tables.webhook_endpoint.values()) {
    if (endpoint.status !== 'enabled') continue
    if (endpoint.enabled_events.includes('*') || endpoint.enabled_events.includes(type)) {
      found.push(endpoint)
    }
  }
  return found
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
