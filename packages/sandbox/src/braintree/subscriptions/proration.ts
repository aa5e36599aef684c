import { multiplyFraction } from '../../core/rounding.ts'
import { isApprovedTransaction } from '../sales/charging.ts'
import { type BraintreeContext, getCurrentDay } from '../state/context.ts'
import { computeCurrentCycleAmount } from '../state/cycle-amount.ts'
import { notifySubscription } from '../state/notifications.ts'
import type { SubscriptionRow } from '../state/rows/subscriptions.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { saveSubscription } from '../state/subscription-status.ts'
import { countDaysBetween } from '../wire/days.ts'
import { chargeSubscription } from './billing-cycle.ts'

/**
 * Returns the prorated difference of a price change for the rest of the current billing cycle, in
 * minor units. Counts whole days including today, so that a change on the first day counts in full.
 * Negative for a downgrade.
 */
export function computeProratedDifference(
  context: BraintreeContext,
  rowBefore: SubscriptionRow,
  rowAfter: SubscriptionRow,
): number {
  const { billingPeriodStart, billingPeriodEnd } = rowBefore
  if (billingPeriodStart === null || billingPeriodEnd === null) return 0
  const change = computeCurrentCycleAmount(rowAfter) - computeCurrentCycleAmount(rowBefore)
  const days = countDaysBetween(billingPeriodStart, billingPeriodEnd) + 1
  const left = countDaysBetween(getCurrentDay(context), billingPeriodEnd) + 1
  return multiplyFraction(change, Math.max(0, Math.min(left, days)), days)
}

/**
 * Adds a prorated difference to the subscription's balance, and charges the part of an upgrade that
 * no credit covers. Returns the transaction, or `null` if nothing was charged. If the charge is
 * declined, the caller decides what happens.
 */
export function chargeProration(
  context: BraintreeContext,
  row: SubscriptionRow,
  change: number,
): TransactionRow | null {
  row.balance += change
  if (change <= 0 || row.balance <= 0) return null
  const amount = row.balance
  const transaction = chargeSubscription(context, row, { amount, submitForSettlement: true })
  if (isApprovedTransaction(transaction)) row.balance = 0
  return transaction
}

/** Sends the notification about the charge of a proration, successful or not. */
export function notifyProration(
  context: BraintreeContext,
  row: SubscriptionRow,
  transaction: TransactionRow,
): void {
  saveSubscription(context, row)
  const succeeded = isApprovedTransaction(transaction)
  notifySubscription(
    context,
    succeeded ? 'subscription_charged_successfully' : 'subscription_charged_unsuccessfully',
    row,
  )
}
