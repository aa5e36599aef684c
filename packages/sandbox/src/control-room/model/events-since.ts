import type { Watched } from '../story/watched.ts'

/** A position in the history, to list what happened after it. */
export interface Mark {
  readonly event: string | null
  readonly delivery: number
}

export function markNow({ stripe, outbox }: Watched): Mark {
  const [event] = stripe?.context.tables.event.newestFirst() ?? []
  return { event: event?.id ?? null, delivery: newestDelivery({ outbox }) }
}

export interface Since {
  /** Stripe's events and Braintree's notifications, oldest first. */
  readonly events: ReadonlyArray<{ readonly id: string; readonly type: string }>
  /** Number of webhooks that were created. */
  readonly deliveries: number
}

export function eventsSince(watched: Watched, mark: Mark): Since {
  const events: Array<{ id: string; type: string }> = []
  for (const { id, type } of watched.stripe?.context.tables.event.newestFirst() ?? []) {
    if (id === mark.event) break
    events.push({ id, type })
  }
  const notifications = new Map<string, string>()
  let deliveries = 0
  for (const delivery of watched.outbox.newestFirst()) {
    if (numberOf(delivery.id) <= mark.delivery) break
    deliveries++
    if (delivery.provider === 'braintree') notifications.set(delivery.eventId, delivery.eventType)
  }
  for (const [id, type] of notifications) events.push({ id, type })
  return { events: events.reverse(), deliveries }
}

/** Counts the events of each type, most frequent first. */
export function countByType(events: Since['events']): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a))
}

function newestDelivery({ outbox }: Pick<Watched, 'outbox'>): number {
  for (const { id } of outbox.newestFirst()) return numberOf(id)
  return 0
}

function numberOf(deliveryId: string): number {
  return Number(deliveryId.replace('dlv_', ''))
}
