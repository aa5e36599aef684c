import type { SubscriptionScope } from '../../core/subscription-scope.ts'
import { isSubscriptionCancelled } from '../../core/values/subscription-state.ts'
import type { ActiveDiscount, EndReason } from '../../providers/subscription.ts'

// These values are not in our row: each function sends a request to the provider.

export async function findDiscounts(subscription: SubscriptionScope): Promise<ActiveDiscount[]> {
  if (subscription.isEnded()) return []
  return (await subscription.gateway()).findDiscounts(subscription.record.providerId)
}

export async function findEndReason(subscription: SubscriptionScope): Promise<EndReason | null> {
  if (!subscription.isEnded()) return null
  return (await subscription.find())?.endReason ?? null
}

export async function findPeriodEnd(subscription: SubscriptionScope): Promise<Date | null> {
  return (await subscription.find())?.periodEndsAt ?? null
}

export async function findPaidUntil(subscription: SubscriptionScope): Promise<Date | null> {
  if (isSubscriptionCancelled(subscription.record)) return subscription.record.endsAt
  return (await subscription.find())?.paidUntil ?? null
}

export async function readProviderSubscription(subscription: SubscriptionScope): Promise<unknown> {
  return (await subscription.find())?.raw ?? null
}
