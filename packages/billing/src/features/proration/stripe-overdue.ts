import type Stripe from 'stripe'
import { PaymentOverdue } from '../../core/errors/errors.ts'
import type { RequestedItem } from '../../providers/item.ts'
import { toDate, toSeconds } from '../../providers/stripe/client.ts'

const OWING: readonly string[] = ['past_due', 'unpaid']

/** Whether a renewal will not be collected. Stripe finalizes any other draft within the hour. */
function isNeverCollected({
  billing_reason,
  total,
  status,
  auto_advance,
}: Stripe.Invoice): boolean {
  if (billing_reason !== 'subscription_cycle' || total <= 0) return false
  return (
    status === 'void' ||
    status === 'uncollectible' ||
    (status === 'draft' && auto_advance === false)
  )
}

/**
 * Whether a change removes prices from a subscription or reduces a quantity, so that Stripe credits
 * unused time.
 */
export function removesPricesOrUnits(
  current: Stripe.Subscription,
  requestedItems: readonly RequestedItem[],
): boolean {
  const isKept = ({ price, quantity = 1 }: Stripe.SubscriptionItem) =>
    requestedItems.some(
      (item) => item.price === price.id && (item.quantity ?? quantity) >= quantity,
    )
  return !current.items.data.every(isKept)
}

/**
 * Rejects a change that would credit unpaid time. Stripe credits the unused time of a price even if
 * its invoice is unpaid or void.
 * @param invoices The invoices of the current billing periods.
 * @throws PaymentOverdue if an invoice is unpaid.
 */
export function requireCreditedTimePaid(
  current: Stripe.Subscription,
  invoices: readonly Stripe.Invoice[],
  now: Date,
): void {
  const reason = findUnpaidReason(current, invoices, now)
  if (reason !== null) throw new PaymentOverdue(reason)
}

/**
 * Whether the remaining time is credited if the subscription ends at the time `at`. An unpaid
 * subscription can also be ended, but without credit.
 */
export function creditsRemainingTime(
  current: Stripe.Subscription,
  invoices: readonly Stripe.Invoice[],
  at: Date,
): boolean {
  const isAfter = current.items.data.every((item) => item.current_period_end <= toSeconds(at))
  return isAfter || findUnpaidReason(current, invoices, at) === null
}

/**
 * Returns why the time after `from` is not paid, and what the caller can do instead. `null` if that
 * time is paid or free.
 */
function findUnpaidReason(
  current: Stripe.Subscription,
  invoices: readonly Stripe.Invoice[],
  from: Date,
): string | null {
  const { status } = current
  if (OWING.includes(status)) {
    return `The last invoice is not paid (${status}), so this change would credit unpaid time: payNow() first, or noProrate()`
  }
  if (status === 'trialing') return null
  // Not collected because of a pause, or by the merchant's decision.
  const bill = invoices.find((each) => isNeverCollected(each) && periodEnd(each) > toSeconds(from))
  if (!bill) return null
  const until = toDate(periodEnd(bill)).toISOString()
  return `The time until ${until} was never paid (invoice ${bill.id} is ${bill.status}), so this change would credit unpaid time: noProrate(), or swapAtPeriodEnd()`
}

function periodEnd({ lines }: Stripe.Invoice): number {
  return Math.max(0, ...lines.data.map(({ period }) => period.end))
}
