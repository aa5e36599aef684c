import { randomBytes } from 'node:crypto'
import type { NewSubscriptionRecord, SubscriptionRecord } from '../storage/tables.ts'
import type { NewBillingEvent, SubscriptionEventData } from './billing-event.ts'

/**
 * Returns the billing events for a change of a subscription's row. The events are recorded in the
 * transaction that writes the row, so each change is reported once.
 */
export function createSubscriptionEvents(
  recordBefore: SubscriptionRecord | null,
  recordAfter: NewSubscriptionRecord,
  now: Date,
): NewBillingEvent[] {
  const { owner, provider, endsAt } = recordAfter
  const about = `${provider}:${recordAfter.providerId}`
  const base = { owner, provider }
  const data = { subscription: toSubscriptionEventData(recordAfter) }
  // Random, because a value can change back and forth within the same millisecond.
  const once = () => `${about}:${randomBytes(12).toString('hex')}`
  const change: NewBillingEvent = recordBefore
    ? {
        ...base,
        type: 'subscription.changed',
        subject: once(),
        data: { ...data, before: toSubscriptionEventData(recordBefore) },
      }
    : { ...base, type: 'subscription.created', subject: about, data }
  const isOver = endsAt !== null && endsAt <= now
  const pause = isOver ? null : findPauseEventType(recordBefore, recordAfter)
  return [
    change,
    ...(pause ? [{ ...base, type: pause, subject: once(), data }] : []),
    ...(isOver ? [{ ...base, type: 'subscription.ended' as const, subject: about, data }] : []),
  ]
}

/** Returns the event type if a pause began or ended. `null` otherwise. */
function findPauseEventType(
  before: SubscriptionRecord | null,
  { pausedAt }: NewSubscriptionRecord,
): 'subscription.paused' | 'subscription.resumed' | null {
  const wasPaused = before !== null && before.pausedAt !== null
  if (wasPaused === (pausedAt !== null)) return null
  return wasPaused ? 'subscription.resumed' : 'subscription.paused'
}

export function toSubscriptionEventData(row: NewSubscriptionRecord): SubscriptionEventData {
  const { plannedPrice: price, plannedAt: at } = row
  return {
    id: row.providerId,
    name: row.name,
    price: row.providerPlan,
    quantity: row.quantity,
    status: row.providerStatus,
    trialEndsAt: row.trialEndsAt?.toISOString() ?? null,
    endsAt: row.endsAt?.toISOString() ?? null,
    pausedAt: row.pausedAt?.toISOString() ?? null,
    planned: price !== null && at !== null ? { price, at: at.toISOString() } : null,
  }
}
