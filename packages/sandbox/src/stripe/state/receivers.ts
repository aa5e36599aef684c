import type { StripeContext } from './context.ts'
import type { EventDestinationRow, WebhookEndpointRow } from './rows.ts'
import type { Tables } from './tables.ts'

/** Who gets events by webhook: an endpoint of `/v1`, or a destination of `/v2`. */
export interface Receiver {
  readonly id: string
  readonly url: string
  /** What is signed with. */
  readonly secret: string
  readonly events: readonly string[]
  readonly isEnabled: boolean
  readonly payload: 'snapshot' | 'thin'
  /** In whose version snapshots are; null for the account's. */
  readonly version: string | null
}

const NOBODY: readonly Receiver[] = []

export function receiversIn(tables: Tables): readonly Receiver[] {
  const { webhook_endpoint: endpoints, 'v2.core.event_destination': destinations } = tables
  // A year of renewals without webhooks asks often.
  if (endpoints.size === 0 && destinations.size === 0) return NOBODY
  return [
    ...[...endpoints.values()].map(ofEndpoint),
    ...[...destinations.values()].map(ofDestination),
  ]
}

export function findReceiver(tables: Tables, id: string | null | undefined): Receiver | null {
  const endpoint = tables.webhook_endpoint.get(id ?? '')
  if (endpoint) return ofEndpoint(endpoint)
  const destination = tables['v2.core.event_destination'].get(id ?? '')
  return destination ? ofDestination(destination) : null
}

function ofEndpoint(row: WebhookEndpointRow): Receiver {
  const { id, url, enabled_events: events, status, api_version: version, $ } = row
  const isEnabled = status === 'enabled'
  return { id, url, secret: $.secret, events, isEnabled, payload: 'snapshot', version }
}

function ofDestination(row: EventDestinationRow): Receiver {
  const { id, enabled_events: events, status, event_payload: payload, $ } = row
  const isEnabled = status === 'enabled'
  const version = row.snapshot_api_version ?? null
  return { id, url: $.url, secret: $.secret, events, isEnabled, payload, version }
}

/** Whether it asked for events of a type. */
export function wants({ events, isEnabled }: Receiver, type: string): boolean {
  return isEnabled && (events.includes('*') || events.includes(type))
}

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'Stripe/1.0',
}

export function sendTo(
  { outbox }: StripeContext,
  { id, url }: Receiver,
  event: { readonly id: string; readonly type: string },
  body: string,
): void {
  outbox.enqueue({
    provider: 'stripe',
    eventId: event.id,
    eventType: event.type,
    url,
    endpointId: id,
    headers: HEADERS,
    body,
  })
}
