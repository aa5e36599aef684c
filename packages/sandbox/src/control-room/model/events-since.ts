import type { ObservedSandbox } from '../story/observed-sandbox.ts'

/** A position in the history of events and webhooks, from which later ones can be listed. */
export interface HistoryPosition {
  readonly event: string | null
  readonly delivery: number
}

export function readCurrentPosition({ stripe, outbox }: ObservedSandbox): HistoryPosition {
  const [event] = stripe?.context.tables.event.newestFirst() ?? []
  return { event: event?.id ?? null, delivery: newestDelivery({ outbox }) }
}

export interface EventsSincePosition {
  /** Stripe's events and Braintree's notifications after the position, oldest first. */
  readonly events: ReadonlyArray<{ readonly id: string; readonly type: string }>
  /** Number of webhooks that were created after the position. */
  readonly deliveries: number
}

export function readEventsSince(
  sandbox: ObservedSandbox,
  position: HistoryPosition,
): EventsSincePosition {
  const events: Array<{ id: string; type: string }> = []
  for (const { id, type } of sandbox.stripe?.context.tables.event.newestFirst() ?? []) {
    if (id === position.event) break
    events.push({ id, type })
  }
  const notifications = new Map<string, string>()
  let deliveries = 0
  for (const delivery of sandbox.outbox.newestFirst()) {
    if (numberOf(delivery.id) <= position.delivery) break
    deliveries++
    if (delivery.provider === 'braintree') notifications.set(delivery.eventId, delivery.eventType)
  }
  for (const [id, type] of notifications) events.push({ id, type })
  return { events: events.reverse(), deliveries }
}

/** Counts the events of each type, most frequent first. */
export function countByType(events: EventsSincePosition['events']): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a))
}

function newestDelivery({ outbox }: Pick<ObservedSandbox, 'outbox'>): number {
  for (const { id } of outbox.newestFirst()) return numberOf(id)
  return 0
}

function numberOf(deliveryId: string): number {
  return Number(deliveryId.replace('dlv_', ''))
}
