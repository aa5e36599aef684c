import type { ActiveDiscount, EndReason } from '../../gateways/contract/subscription.ts'
import { cancelled } from '../../values/subscription-state.ts'
import type { SubscriptionScope } from '../subscription-scope.ts'

// What our row does not have: each of these is asked of the provider.

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
  if (cancelled(subscription.record)) return subscription.record.endsAt
  return (await subscription.find())?.paidUntil ?? null
}

export async function readFromProvider(subscription: SubscriptionScope): Promise<unknown> {
  return (await subscription.find())?.raw ?? null
}
