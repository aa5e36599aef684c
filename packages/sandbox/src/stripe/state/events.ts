import { createHmac } from 'node:crypto'
import type { Delivery } from '../../core/outbox.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { StripeContext } from './context.ts'
import { readClockTime } from './context.ts'
import type { EventRequest, NewEvent } from './new-event.ts'
import {
  type EventReceiver,
  findReceiver,
  listEventReceivers,
  sendToReceiver,
  subscribesTo,
} from './receivers.ts'
import type { EventRow } from './rows.ts'
import { recordThinEvent, toThinEventType } from './thin-events.ts'

const DAY = 86_400
/** Value of an event's field `request` if time caused the event instead of a call. */
const NO_REQUEST = { id: null, idempotency_key: null }

/**
 * Stores the events of one API call or of one scheduled job, and sends each to the webhook
 * endpoints that subscribe to its type. An event's `created` is the time of the sandbox's own
 * clock, even for objects on a test clock. `testClockTime` is the time of the objects' test clock
 * in Unix seconds, and is stored beside `created`. It is `null` if the objects follow the sandbox's
 * own clock.
 */
export function recordEvents(
  context: StripeContext,
  events: readonly NewEvent[],
  request: EventRequest | null,
  testClockTime: number | null,
): void {
  const { store, tables } = context
  const created = readClockTime(context)
  const by = request ? { id: request.id, idempotency_key: request.idempotencyKey } : NO_REQUEST
  const receivers = listEventReceivers(tables)
  const whole = receivers.filter(({ payload }) => payload === 'snapshot')
  const thin = receivers.filter(({ payload }) => payload === 'thin')
  const rows = events.map(({ type, data, previous }): EventRow => {
    const endpoints = whole.filter((receiver) => subscribesTo(receiver, type)).length
    const id = store.nextId('evt_')
    return { id, object: 'event', type, created, data, previous, request: by, endpoints }
  })
  for (const row of rows) {
    if (testClockTime !== null) row.at = testClockTime
    tables.event.add(row.id, row)
  }
  for (const row of rows) {
    if (row.endpoints > 0) sendEvent(context, row, whole)
    if (thin.some((receiver) => subscribesTo(receiver, toThinEventType(row.type))))
      recordThinEvent(context, row)
  }
}

function sendEvent(
  context: StripeContext,
  row: EventRow,
  receivers: readonly EventReceiver[],
): void {
  const bodies = new Map<string, string>()
  for (const receiver of receivers) {
    if (!subscribesTo(receiver, row.type)) continue
    const version = receiver.version ?? context.apiVersion
    const body = bodies.get(version) ?? serializeEventBody(context, row, version)
    bodies.set(version, body)
    sendToReceiver(context, receiver, row, body)
  }
}

function serializeEventBody(context: StripeContext, row: EventRow, version: string): string {
  return JSON.stringify(context.convertEvent(renderPinned(row, row.endpoints), version), null, 2)
}

/**
 * Renders an event as the API returns it: in the account's API version, whatever version the call
 * names.
 */
export function renderEvent(
  context: StripeContext,
  row: EventRow,
  pendingWebhooks: number,
): WireObject {
  return context.convertEvent(renderPinned(row, pendingWebhooks), context.apiVersion)
}

function renderPinned(row: EventRow, pendingWebhooks: number): WireObject {
  const { data, previous } = row
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

/**
 * Whether the endpoint of a delivery was deleted or disabled. As at Stripe, its deliveries are not
 * retried.
 */
export function isReceiverGone({ tables }: StripeContext, { endpointId }: Delivery): boolean {
  return endpointId !== undefined && findReceiver(tables, endpointId)?.isEnabled !== true
}

/**
 * Returns a function that signs webhook deliveries. The header `t=…,v1=…` contains the system time,
 * and an HMAC-SHA256 of that time and the body.
 */
export function signStripeDelivery(
  context: StripeContext,
): (delivery: Delivery, realNow: Date) => Record<string, string> {
  return (delivery, realNow) => {
    const receiver = findReceiver(context.tables, delivery.endpointId)
    if (!receiver) return {}
    const timestamp = Math.floor(realNow.getTime() / 1000)
    const signature = createHmac('sha256', receiver.secret)
      .update(`${timestamp}.${delivery.body}`)
      .digest('hex')
    return { 'stripe-signature': `t=${timestamp},v1=${signature}` }
  }
}

const FORGOTTEN_AT = new WeakMap<StripeContext, number>()

/** Deletes the events that are older than `keepEventsForDays` (at Stripe 30 days). */
export function deleteOldEvents(context: StripeContext): void {
  const now = readClockTime(context)
  if (FORGOTTEN_AT.get(context) === now) return
  FORGOTTEN_AT.set(context, now)
  const limit = now - context.keepEventsForDays * DAY
  const { event, 'v2.core.event': thin } = context.tables
  const times = event.columnBy('created', ({ created }) => created)
  event.deleteOldest((place) => Number(times.at(place)) < limit)
  const oldest = new Date(limit * 1000).toISOString()
  thin.deleteOldest((place) => (thin.at(place)?.created ?? oldest) < oldest)
}
