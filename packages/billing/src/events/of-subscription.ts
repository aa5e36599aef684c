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
  const subscription = factsOf(after)
  const change: NewBillingEvent = before
    ? {
        ...base,
        type: 'subscription.changed',
        // It may go back and forth within one moment.
        subject: `${about}:${randomBytes(12).toString('hex')}`,
        data: { subscription, before: factsOf(before) },
      }
    : { ...base, type: 'subscription.created', subject: about, data: { subscription } }
  if (endsAt === null || endsAt > now) return [change]
  return [change, { ...base, type: 'subscription.ended', subject: about, data: { subscription } }]
}

export function factsOf(row: NewSubscriptionRecord): SubscriptionFacts {
  return {
    id: row.providerId,
    name: row.name,
    plan: row.providerPlan,
    quantity: row.quantity,
    status: row.providerStatus,
    trialEndsAt: row.trialEndsAt?.toISOString() ?? null,
    endsAt: row.endsAt?.toISOString() ?? null,
  }
}
