import { columnsOf } from '../../consistency/converge.ts'
import { SubscriptionEnded } from '../../errors.ts'
import type { ProviderPayment } from '../../gateways/contract/parts/money/payments.ts'
import { owedForUsage, payUsage } from '../../usage/charges/charge-usage.ts'
import type { PendingConfirmation } from '../../values/confirmation.ts'
import { type Money, money } from '../../values/money.ts'
import { ended } from '../../values/subscription-state.ts'
import { mindingPlan } from '../planned-swap.ts'
import type { SubscriptionHaving, SubscriptionScope } from '../subscription-scope.ts'

export async function findPendingConfirmation(
  subscription: SubscriptionScope,
): Promise<PendingConfirmation | null> {
  if (subscription.isEnded()) return null
  const { confirmations } = await subscription.gateway()
  return confirmations?.find(subscription.record.providerId) ?? null
}

export async function findLatestPayment(
  subscription: SubscriptionHaving<'payments'>,
): Promise<ProviderPayment | null> {
  const { payments } = await subscription.gateway()
  return payments.findLatest(subscription.record.providerId)
}

export async function requirePaid(subscription: SubscriptionScope): Promise<void> {
  const found = await subscription.find()
  if (found) await (await subscription.gateway()).requirePaid(found)
}

export async function findAmountOwed(subscription: SubscriptionScope): Promise<Money | null> {
  const found = await subscription.find()
  if (!found) return null
  const owed = await (await subscription.gateway()).amountOwed(found)
  const used = isCountedByUs(subscription)
    ? await owedForUsage(subscription.context, subscription.record)
    : null
  return used ? money(owed.amount + used.amount, owed.currency) : owed
}

/** Whether what is used with it is counted and charged by us. */
export function isCountedByUs({ context, record }: SubscriptionScope): boolean {
  return context.options.providers.find(record.provider)?.usageCountedBy === 'us'
}

/** What has ended is not opened again by paying for it. Whoever owes something for the time before pays the invoice itself. */
export function payNow(subscription: SubscriptionScope): Promise<void> {
  const { context, record } = subscription
  return subscription.change(
    mindingPlan(subscription, 'payNow', async ({ found, locked, ask }) => {
      const hasEnded = ended(columnsOf(context, record.provider, found), subscription.now())
      if (hasEnded && !isCountedByUs(subscription)) {
        throw new SubscriptionEnded(
          'The subscription has ended, and paying does not bring it back: subscribe anew. What is still owed is paid by invoice.pay()',
        )
      }
      await ask((gateway) => gateway.payNow(found))
      if (isCountedByUs(subscription)) await payUsage(context, locked, record)
    }),
  )
}
