import { createHmac } from 'node:crypto'
import type { Delivery } from '../../core/outbox.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { StripeContext } from './context.ts'
import { nowOf } from './context.ts'
import type { EventRequest, NewEvent } from './new-event.ts'
import { findReceiver, type Receiver, receiversIn, sendTo, wants } from './receivers.ts'
import type { EventRow, ThinEventRow } from './rows.ts'
import { tellThin, thinType } from './thin-events.ts'

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
  const receivers = receiversIn(tables)
  const whole = receivers.filter(({ payload }) => payload === 'snapshot')
  const thin = receivers.filter(({ payload }) => payload === 'thin')
  const rows = events.map(({ type, data, previous }): EventRow => {
    const endpoints = whole.filter((receiver) => wants(receiver, type)).length
    const id = store.nextId('evt_')
    return { id, object: 'event', type, created, data, previous, request: by, endpoints }
  })
  if (at !== null) for (const row of rows) row.at = at
  // Few events are ever read. Until then they stay packed.
  tables.event.addTogether(rows, packers.events.together(rows))
  for (const row of rows) {
    if (row.endpoints > 0) sendEvent(context, row, whole)
    if (thin.some((receiver) => wants(receiver, thinType(row.type)))) tellThin(context, row)
  }
}

function sendEvent(context: StripeContext, row: EventRow, receivers: readonly Receiver[]): void {
  const bodies = new Map<string, string>()
  for (const receiver of receivers) {
    if (!wants(receiver, row.type)) continue
    const version = receiver.version ?? context.apiVersion
    const body = bodies.get(version) ?? bodyOf(context, row, version)
    bodies.set(version, body)
    sendTo(context, receiver, row, body)
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

/** At Stripe a retry that finds its receiver deleted or switched off is the last. */
export function isReceiverGone({ tables }: StripeContext, { endpointId }: Delivery): boolean {
  return endpointId !== undefined && findReceiver(tables, endpointId)?.isEnabled !== true
}

/** `t=…,v1=…`: the real time of sending, and HMAC-SHA256 over it and the body. */
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

/** Stripe keeps events for 30 days. */
export function forgetOldEvents(context: StripeContext): void {
  const now = nowOf(context)
  if (FORGOTTEN_AT.get(context) === now) return
  FORGOTTEN_AT.set(context, now)
  const limit = now - context.keepEventsForDays * DAY
  const { packers, tables } = context
  tables.event.deleteOldest((kept) => packers.events.createdOf(kept) < limit)
  const oldest = new Date(limit * 1000).toISOString()
  tables['v2.core.event'].deleteOldest((kept) => (kept as ThinEventRow).created < oldest)
}
