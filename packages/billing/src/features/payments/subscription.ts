import { toStateColumns } from '../../core/converge.ts'
import { SubscriptionEnded } from '../../core/errors/errors.ts'
import type { SubscriptionScope, SubscriptionScopeWith } from '../../core/subscription-scope.ts'
import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import { type Money, money } from '../../core/values/money.ts'
import { hasSubscriptionEnded } from '../../core/values/subscription-state.ts'
import { withPlannedSwapRule } from '../schedules/planned-swap.ts'
import { computeOwedUsage, payOwedUsage } from '../usage/charges/charge-usage.ts'
import type { ProviderPayment } from './contract.ts'

export async function findPendingConfirmation(
  subscription: SubscriptionScope,
): Promise<PendingConfirmation | null> {
  if (subscription.isEnded()) return null
  const { confirmations } = await subscription.gateway()
  return confirmations?.find(subscription.record.providerId) ?? null
}

export async function findLatestPayment(
  subscription: SubscriptionScopeWith<'payments'>,
): Promise<ProviderPayment | null> {
  const { payments } = await subscription.gateway()
  return payments.findLatest(subscription.record.providerId)
}

export async function requireLatestPaymentPaid(subscription: SubscriptionScope): Promise<void> {
  const found = await subscription.find()
  if (found) await (await subscription.gateway()).requirePaid(found)
}

export async function findAmountOwed(subscription: SubscriptionScope): Promise<Money | null> {
  const found = await subscription.find()
  if (!found) return null
  const owed = await (await subscription.gateway()).amountOwed(found)
  const used = isUsageCountedByUs(subscription)
    ? await computeOwedUsage(subscription.context, subscription.record)
    : null
  return used ? money(owed.amount + used.amount, owed.currency) : owed
}

/**
 * Whether billing itself counts and charges the subscription's usage, because its provider cannot.
 */
export function isUsageCountedByUs({ context, record }: SubscriptionScope): boolean {
  return context.options.providers.find(record.provider)?.usageCountedBy === 'us'
}

/**
 * Pays the amount that the subscription owes.
 * @throws SubscriptionEnded if the subscription has ended, because paying would not bring it back.
 * Usage that billing itself counts can be paid even then.
 */
export function payNow(subscription: SubscriptionScope): Promise<void> {
  const { context, record } = subscription
  return subscription.change(
    withPlannedSwapRule(subscription, 'payNow', async ({ found, locked, ask }) => {
      const hasEnded = hasSubscriptionEnded(
        toStateColumns(context, record.provider, found),
        subscription.now(),
      )
      if (hasEnded && !isUsageCountedByUs(subscription)) {
        throw new SubscriptionEnded(
          'The subscription has ended, and paying does not restart it: create a new one. Pay outstanding invoices with invoice.pay()',
        )
      }
      await ask((gateway) => gateway.payNow(found))
      if (isUsageCountedByUs(subscription)) await payOwedUsage(context, locked, record)
    }),
  )
}
