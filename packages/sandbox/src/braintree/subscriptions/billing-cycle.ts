import { copyJson } from '../../core/store/copy-json.ts'
import { chargePaymentMethod, isApprovedTransaction } from '../sales/charging.ts'
import { type BraintreeContext, getCurrentDay, readMerchantSettings } from '../state/context.ts'
import {
  appliesToCurrentCycle,
  computeNextCycleAmount,
  countModificationCycle,
} from '../state/cycle-amount.ts'
import { notifySubscription, type SubscriptionNotification } from '../state/notifications.ts'
import type { SubscriptionRow } from '../state/rows/subscriptions.ts'
import type { PayPalSale, TransactionRow } from '../state/rows/transactions.ts'
import {
  cancelSubscriptionRow,
  isCanceledOrExpired,
  saveSubscription,
  setSubscriptionStatus,
} from '../state/subscription-status.ts'
import { addDaysTo, addMonthsToBillingDay, type CalendarDay, startOfDay } from '../wire/days.ts'

/**
 * Returns when the next scheduled work of the subscription is due, in epoch milliseconds: a retry,
 * a renewal, or the end of the subscription. `null` if the subscription has ended.
 */
export function findSubscriptionDueAt(row: SubscriptionRow): number | null {
  if (isCanceledOrExpired(row)) return null
  const renewal = startOfDay(row.nextBillingDate)
  return row.retryOn === null ? renewal : Math.min(renewal, startOfDay(row.retryOn))
}

/**
 * Runs the due work of a subscription: a retry, a renewal, or the end of the subscription. A retry
 * runs first, because it may end the subscription.
 */
export function runDueBilling(context: BraintreeContext, row: SubscriptionRow): void {
  if (row.retryOn !== null && row.retryOn <= getCurrentDay(context))
    retryAutomatically(context, row)
  else if (hasRunItsCourse(row)) expire(context, row)
  else renew(context, row)
}

function hasRunItsCourse(row: SubscriptionRow): boolean {
  return row.numberOfBillingCycles !== null && row.currentBillingCycle >= row.numberOfBillingCycles
}

/** Starts the next cycle on its billing date and charges its amount plus the balance. */
function renew(context: BraintreeContext, row: SubscriptionRow): void {
  const wasPending = row.status === 'Pending'
  const endsTrial = row.currentBillingCycle === 0 && !wasPending
  startCycle(row, row.nextBillingDate)
  if (wasPending) setSubscriptionStatus(context, row, 'Active', 'recurring')
  const kinds = applyRenewal(context, row, wasPending)
  if (endsTrial) kinds.unshift('subscription_trial_ended')
  for (const kind of kinds) notifySubscription(context, kind, row)
  if (kinds.includes('subscription_went_past_due') && row.retryOn === null) {
    afterLastRetry(context, row)
  }
}

/** Charges the subscription and updates it. Returns the notifications to send. */
function applyRenewal(
  context: BraintreeContext,
  row: SubscriptionRow,
  wasPending: boolean,
): SubscriptionNotification[] {
  const transaction = chargeBalance(context, row)
  const wasPastDue = row.status === 'Past Due'
  if (transaction === null) {
    // A credit covered the cycle, so it counts as paid.
    recordPayment(context, row, row.balance)
    const skipped: SubscriptionNotification = 'subscription_billing_skipped'
    return wasPastDue ? [skipped, 'subscription_went_active'] : [skipped]
  }
  if (isApprovedTransaction(transaction)) {
    recordPayment(context, row)
    const charged: SubscriptionNotification = 'subscription_charged_successfully'
    return wasPending || wasPastDue ? [charged, 'subscription_went_active'] : [charged]
  }
  row.failureCount += 1
  if (wasPastDue) {
    saveSubscription(context, row)
    return ['subscription_charged_unsuccessfully']
  }
  row.pastDueSince = getCurrentDay(context)
  row.retryOn = retryDay(context, row)
  setSubscriptionStatus(context, row, 'Past Due', 'recurring')
  return ['subscription_charged_unsuccessfully', 'subscription_went_past_due']
}

/**
 * Starts a billing cycle: moves the subscription's dates and adds the cycle's amount to its
 * balance. Charges nothing.
 */
export function startCycle(row: SubscriptionRow, start: CalendarDay): void {
  const amount = computeNextCycleAmount(row)
  row.currentBillingCycle += 1
  countModificationCycle(row, [...row.addOns, ...row.discounts])
  row.billingPeriodStart = start
  row.nextBillingDate = addMonthsToBillingDay(start, row.billingFrequency, row.billingDayOfMonth)
  row.billingPeriodEnd = addDaysTo(row.nextBillingDate, -1)
  row.balance += amount
}

/**
 * Charges the subscription's balance. Returns `null` if nothing is owed because a credit covers the
 * cycle.
 */
export function chargeBalance(
  context: BraintreeContext,
  row: SubscriptionRow,
): TransactionRow | null {
  if (row.balance <= 0) return null
  return chargeSubscription(context, row, { amount: row.balance, submitForSettlement: true })
}

/** Creates a transaction that charges a subscription. The caller updates the balance. */
export function chargeSubscription(
  context: BraintreeContext,
  row: SubscriptionRow,
  request: { amount: number; submitForSettlement: boolean; details?: Partial<TransactionRow> },
): TransactionRow {
  const method = context.tables.paymentMethods.get(row.paymentMethodToken)
  if (!method) throw new Error(`Subscription ${row.id} outlived its payment method`)
  const transaction = chargePaymentMethod(context, {
    amount: request.amount,
    currency: row.currency,
    merchantAccountId: row.merchantAccountId,
    customer: context.tables.customers.get(row.customerId) ?? null,
    token: method.token,
    instrument: method.instrument,
    alwaysFailsWith: method.alwaysFailsWith,
    submitForSettlement: request.submitForSettlement,
    details: {
      recurring: true,
      planId: row.planId,
      subscriptionId: row.id,
      billingPeriodStart: row.billingPeriodStart,
      billingPeriodEnd: row.billingPeriodEnd,
      addOns: copyJson(row.addOns.filter((each) => appliesToCurrentCycle(row, each))),
      discounts: copyJson(row.discounts.filter((each) => appliesToCurrentCycle(row, each))),
      descriptor: { ...row.descriptor },
      ...(row.description === null ? {} : { paypal: payPalDescription(row.description) }),
      ...request.details,
    },
  })
  row.transactionIds.push(transaction.id)
  return transaction
}

/**
 * Returns PayPal options with the subscription's description, which PayPal shows with each charge.
 */
function payPalDescription(description: string): PayPalSale {
  return { payeeId: null, payeeEmail: null, customField: null, description }
}

/** Records that the subscription is paid. A negative `balance` is a credit that remains. */
export function recordPayment(context: BraintreeContext, row: SubscriptionRow, balance = 0): void {
  row.balance = balance
  row.failureCount = 0
  row.paidThrough = row.billingPeriodEnd
  row.pastDueSince = null
  row.retriesMade = 0
  row.retryOn = null
  if (row.status === 'Active') saveSubscription(context, row)
  else setSubscriptionStatus(context, row, 'Active', 'recurring')
}

function retryAutomatically(context: BraintreeContext, row: SubscriptionRow): void {
  row.retriesMade += 1
  retryBalance(context, row)
  if (row.status !== 'Past Due') return
  row.retryOn = retryDay(context, row)
  saveSubscription(context, row)
  if (row.retryOn === null) afterLastRetry(context, row)
}

/**
 * Charges the subscription's balance again, in an automatic retry or because the payment method was
 * replaced.
 */
export function retryBalance(context: BraintreeContext, row: SubscriptionRow): void {
  const charged = chargeBalance(context, row)
  if (charged && !isApprovedTransaction(charged)) {
    row.failureCount += 1
    saveSubscription(context, row)
    notifySubscription(context, 'subscription_charged_unsuccessfully', row)
    return
  }
  recordPayment(context, row)
  notifySubscription(context, 'subscription_charged_successfully', row)
  notifySubscription(context, 'subscription_went_active', row)
}

/**
 * Records a charge that the merchant requested with `retryCharge`. The amount may cover a part of
 * the subscription's balance, or exceed the balance and leave a credit.
 */
export function recordManualPayment(
  context: BraintreeContext,
  row: SubscriptionRow,
  amount: number,
): void {
  row.balance -= amount
  if (row.balance > 0) {
    saveSubscription(context, row)
    return
  }
  recordPayment(context, row, row.balance)
  notifySubscription(context, 'subscription_went_active', row)
}

/**
 * Makes a subscription past due since the given number of days, as if its last renewal had been
 * declined.
 */
export function makePastDue(context: BraintreeContext, row: SubscriptionRow, days: number): void {
  row.balance = computeNextCycleAmount(row)
  row.failureCount = 1
  row.pastDueSince = addDaysTo(getCurrentDay(context), -days)
  setSubscriptionStatus(context, row, 'Past Due', 'recurring')
}

function retryDay(context: BraintreeContext, row: SubscriptionRow): CalendarDay | null {
  const days = readMerchantSettings(context).retryAfterDays[row.retriesMade]
  return days === undefined ? null : addDaysTo(getCurrentDay(context), days)
}

function afterLastRetry(context: BraintreeContext, row: SubscriptionRow): void {
  if (readMerchantSettings(context).afterRetries === 'cancel')
    cancelSubscriptionRow(context, row, 'recurring')
}

function expire(context: BraintreeContext, row: SubscriptionRow): void {
  row.retryOn = null
  setSubscriptionStatus(context, row, 'Expired', 'recurring')
  notifySubscription(context, 'subscription_expired', row)
}
