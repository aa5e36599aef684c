import type { StripeContext } from './context.ts'
import type { EventDestinationRow, WebhookEndpointRow } from './rows.ts'
import type { StripeTables } from './tables.ts'

/**
 * A receiver of webhooks: a webhook endpoint of the `/v1` API, or an event destination of the `/v2`
 * API.
 */
export interface EventReceiver {
  readonly id: string
  readonly url: string
  /** Secret that signs the webhooks to this receiver. */
  readonly secret: string
  readonly events: readonly string[]
  readonly isEnabled: boolean
  readonly payload: 'snapshot' | 'thin'
  /** API version of the events that the receiver gets. `null` for the account's default version. */
  readonly version: string | null
}

const NO_RECEIVERS: readonly EventReceiver[] = []

export function listEventReceivers(tables: StripeTables): readonly EventReceiver[] {
  const { webhook_endpoint: endpoints, 'v2.core.event_destination': destinations } = tables
  // Avoids building lists, because most sandboxes renew subscriptions without any endpoint.
  if (endpoints.size === 0 && destinations.size === 0) return NO_RECEIVERS
  return [
    ...[...endpoints.values()].map(fromEndpoint),
    ...[...destinations.values()].map(fromDestination),
  ]
}

export function findReceiver(
  tables: StripeTables,
  id: string | null | undefined,
): EventReceiver | null {
  const endpoint = tables.webhook_endpoint.get(id ?? '')
  if (endpoint) return fromEndpoint(endpoint)
  const destination = tables['v2.core.event_destination'].get(id ?? '')
  return destination ? fromDestination(destination) : null
}

function fromEndpoint(row: WebhookEndpointRow): EventReceiver {
  const { id, url, enabled_events: events, status, api_version: version, $ } = row
  const isEnabled = status === 'enabled'
  return { id, url, secret: $.secret, events, isEnabled, payload: 'snapshot', version }
}

function fromDestination(row: EventDestinationRow): EventReceiver {
  const { id, enabled_events: events, status, event_payload: payload, $ } = row
  const isEnabled = status === 'enabled'
  const version = row.snapshot_api_version ?? null
  return { id, url: $.url, secret: $.secret, events, isEnabled, payload, version }
}

/** Whether a receiver is enabled and subscribes to an event type. */
export function subscribesTo({ events, isEnabled }: EventReceiver, type: string): boolean {
  return isEnabled && (events.includes('*') || events.includes(type))
}

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'Stripe/1.0',
}

export function sendToReceiver(
  { outbox }: StripeContext,
  { id, url }: EventReceiver,
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
