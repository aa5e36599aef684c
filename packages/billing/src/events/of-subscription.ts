import { randomBytes } from 'node:crypto'
import type { NewSubscriptionRecord, SubscriptionRecord } from '../storage/tables.ts'
import type { NewBillingEvent, SubscriptionFacts } from './billing-event.ts'

/** What there is to tell when a row changes. Told in the transaction that writes it, so each change is told once. */
export function eventsOfSubscription(
  before: SubscriptionRecord | null,
  after: NewSubscriptionRecord,
  now: Date,
): NewBillingEvent[] {
  const { owner, provider, endsAt } = after
  const about = `${provider}:${after.providerId}`
  const base = { owner, provider }
  const data = { subscription: factsOf(after) }
  // It may go back and forth within one moment.
  const once = () => `${about}:${randomBytes(12).toString('hex')}`
  const change: NewBillingEvent = before
    ? {
        ...base,
        type: 'subscription.changed',
        subject: once(),
        data: { ...data, before: factsOf(before) },
      }
    : { ...base, type: 'subscription.created', subject: about, data }
  const isOver = endsAt !== null && endsAt <= now
  const pause = isOver ? null : pauseOf(before, after)
  return [
    change,
    ...(pause ? [{ ...base, type: pause, subject: once(), data }] : []),
    ...(isOver ? [{ ...base, type: 'subscription.ended' as const, subject: about, data }] : []),
  ]
}

/** Whether a pause has begun or ended. */
function pauseOf(
  before: SubscriptionRecord | null,
  { pausedAt }: NewSubscriptionRecord,
): 'subscription.paused' | 'subscription.resumed' | null {
  const wasPaused = before !== null && before.pausedAt !== null
  if (wasPaused === (pausedAt !== null)) return null
  return wasPaused ? 'subscription.resumed' : 'subscription.paused'
}

export function factsOf(row: NewSubscriptionRecord): SubscriptionFacts {
  const { plannedPlan: plan, plannedAt: at } = row
  return {
    id: row.providerId,
    name: row.name,
    plan: row.providerPlan,
    quantity: row.quantity,
    status: row.providerStatus,
    trialEndsAt: row.trialEndsAt?.toISOString() ?? null,
    endsAt: row.endsAt?.toISOString() ?? null,
    pausedAt: row.pausedAt?.toISOString() ?? null,
    planned: plan !== null && at !== null ? { plan, at: at.toISOString() } : null,
  }
}
