import { countDaysBetween } from '../wire/days.ts'
import { formatAmount } from '../wire/money.ts'
import { XmlDay, XmlList, type XmlObject } from '../wire/xml.ts'
import { type BraintreeContext, getCurrentDay } from './context.ts'
import { computeNextCycleAmount } from './cycle-amount.ts'
import type { SubscriptionRow } from './rows/subscriptions.ts'
import {
  renderAppliedXml,
  renderDayXml,
  renderDescriptorXml,
  renderTransactionXml,
} from './transaction-xml.ts'

/**
 * Maximum number of transactions in a rendered subscription. Braintree returns the newest twenty.
 */
const TRANSACTIONS_SHOWN = 20

export function renderSubscriptionXml(
  context: BraintreeContext,
  row: SubscriptionRow,
  transactionsShown = TRANSACTIONS_SHOWN,
): XmlObject {
  const { currency } = row
  const next = computeNextCycleAmount(row)
  return {
    id: row.id,
    plan_id: row.planId,
    price: formatAmount(row.price, currency),
    balance: formatAmount(row.balance, currency),
    status: row.status,
    merchant_account_id: row.merchantAccountId,
    payment_method_token: row.paymentMethodToken,
    billing_day_of_month: row.billingDayOfMonth,
    billing_period_start_date: renderDayXml(row.billingPeriodStart),
    billing_period_end_date: renderDayXml(row.billingPeriodEnd),
    paid_through_date: renderDayXml(row.paidThrough),
    first_billing_date: new XmlDay(row.firstBillingDate),
    next_billing_date: new XmlDay(row.nextBillingDate),
    next_bill_amount: formatAmount(next, currency),
    next_billing_period_amount: formatAmount(next, currency),
    current_billing_cycle: row.currentBillingCycle,
    number_of_billing_cycles: row.numberOfBillingCycles,
    never_expires: row.neverExpires,
    failure_count: row.failureCount,
    days_past_due:
      row.pastDueSince === null ? null : countDaysBetween(row.pastDueSince, getCurrentDay(context)),
    trial_period: row.trialPeriod,
    trial_duration: row.trialDuration,
    trial_duration_unit: row.trialDurationUnit,
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
    add_ons: renderAppliedXml('add_on', row.addOns, currency),
    discounts: renderAppliedXml('discount', row.discounts, currency),
    descriptor: renderDescriptorXml(row.descriptor),
    description: row.description,
    transactions: transactionsXml(context, row, transactionsShown),
    status_history: statusHistoryXml(row),
  }
}

function transactionsXml(
  context: BraintreeContext,
  row: SubscriptionRow,
  transactionsShown: number,
): XmlList {
  const shown: XmlObject[] = []
  for (const id of row.transactionIds.slice(-transactionsShown).reverse()) {
    const transaction = context.tables.transactions.get(id)
    if (transaction) shown.push(renderTransactionXml(transaction))
  }
  return new XmlList('transaction', shown)
}

function statusHistoryXml(row: SubscriptionRow): XmlList {
  return new XmlList(
    'status_event',
    row.statusHistory.toReversed().map((event) => ({
      timestamp: new Date(event.timestamp),
      status: event.status,
      balance: formatAmount(event.balance, row.currency),
      price: formatAmount(event.price, row.currency),
      currency_iso_code: row.currency,
      plan_id: event.planId,
      subscription_source: event.source,
      user: null,
    })),
  )
}
