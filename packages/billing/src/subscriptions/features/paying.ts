import type { PendingConfirmation } from '../../values/confirmation.ts'
import type { Money } from '../../values/money.ts'
import type { SubscriptionScope } from '../subscription-scope.ts'

export async function findPendingConfirmation(
  subscription: SubscriptionScope,
): Promise<PendingConfirmation | null> {
  if (subscription.isEnded()) return null
  const { confirmations } = await subscription.gateway()
  return confirmations?.find(subscription.record.providerId) ?? null
}

export async function requirePaid(subscription: SubscriptionScope): Promise<void> {
  const found = await subscription.find()
  if (found) await (await subscription.gateway()).requirePaid(found)
}

export async function findAmountOwed(subscription: SubscriptionScope): Promise<Money | null> {
  const found = await subscription.find()
  return found ? (await subscription.gateway()).amountOwed(found) : null
}

export function payNow(subscription: SubscriptionScope): Promise<void> {
  return subscription.change(({ found, ask }) => ask((gateway) => gateway.payNow(found)))
}
