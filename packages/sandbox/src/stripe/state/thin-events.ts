import { ROUTES } from '../wire/contract.generated.ts'
import type { StripeContext } from './context.ts'
import { readClockTime } from './context.ts'
import { listEventReceivers, sendToReceiver, subscribesTo } from './receivers.ts'
import type { EventRow, ThinEventRow } from './rows.ts'

/** Returns the type of the thin event that corresponds to an ordinary (snapshot) event. */
export function toThinEventType(type: string): string {
  return `v1.${type}`
}

/** Paths at which objects are retrieved by id. */
const RETRIEVE_PATHS: ReadonlySet<string> = new Set(
  ROUTES.filter(([method]) => method === 'GET').map(([, path]) => path),
)

/**
 * Returns the related object of a thin event, with its URL: a `checkout.session` is at
 * `/v1/checkout/sessions/:id`.
 */
export function buildRelatedObject(object: {
  readonly id?: unknown
  readonly object?: unknown
}): Pick<ThinEventRow, 'related_object'> {
  const type = String(object.object)
  const address = `/v1/${type.replace('.', '/')}s/`
  if (typeof object.id !== 'string' || !RETRIEVE_PATHS.has(`${address}:id`)) return {}
  return { related_object: { id: object.id, type, url: `${address}${object.id}` } }
}

/** Stores and sends the thin event that corresponds to an ordinary (snapshot) event. */
export function recordThinEvent(context: StripeContext, event: EventRow): void {
  const { request } = event
  const thin: ThinEventRow = {
    id: context.store.nextId('evt_test_'),
    object: 'v2.core.event',
    type: toThinEventType(event.type),
    livemode: false,
    created: new Date(readClockTime(context) * 1000).toISOString(),
    ...buildRelatedObject(event.data),
    snapshot_event: event.id,
    ...(request?.id
      ? {
          reason: {
            type: 'request',
            request: { id: request.id, idempotency_key: request.idempotency_key ?? '' },
          },
        }
      : {}),
  }
  context.tables['v2.core.event'].set(thin.id, thin)
  sendThinEvent(context, thin)
}

/**
 * Sends a stored thin event to every event destination with the payload `thin` that subscribes to
 * its type, and to `/v1` webhook endpoints that list exactly this type. Only tests can register
 * webhook endpoints for the types of thin events.
 */
export function sendThinEvent(context: StripeContext, event: ThinEventRow): void {
  const { data: _data, ...told } = event
  const body = JSON.stringify(told)
  for (const receiver of listEventReceivers(context.tables)) {
    const isMeant = receiver.payload === 'thin' || receiver.events.includes(event.type)
    if (isMeant && subscribesTo(receiver, event.type))
      sendToReceiver(context, receiver, event, body)
  }
}
