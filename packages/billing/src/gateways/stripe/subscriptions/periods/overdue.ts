import type Stripe from 'stripe'
import { PaymentOverdue } from '../../../../errors.ts'
import type { WantedItem } from '../../../contract/item.ts'
import { toDate, toSeconds } from '../../sdk/client.ts'

const OWING: readonly string[] = ['past_due', 'unpaid']

/** A renewal that nobody is asked to pay. Any other draft is sent within the hour. */
function isGivenUp({ billing_reason, total, status, auto_advance }: Stripe.Invoice): boolean {
  if (billing_reason !== 'subscription_cycle' || total <= 0) return false
  return (
    status === 'void' ||
    status === 'uncollectible' ||
    (status === 'draft' && auto_advance === false)
  )
}

/** Whether a change removes prices or units, so that Stripe credits their unused time. */
export function takesAway(current: Stripe.Subscription, wanted: readonly WantedItem[]): boolean {
  const isKept = ({ price, quantity = 1 }: Stripe.SubscriptionItem) =>
    wanted.some((item) => item.price === price.id && (item.quantity ?? quantity) >= quantity)
  return !current.items.data.every(isKept)
}

/**
 * Stripe gives back what is unused of a price, whether or not anybody has paid for it: the customer would have credit, and
 * the bill stay open, or stay void. So whoever owes pays first.
 * @param invoices Those of the running periods.
 */
export function requireNothingOwed(
  current: Stripe.Subscription,
  invoices: readonly Stripe.Invoice[],
  now: Date,
): void {
  const reason = whyNotPaid(current, invoices, now)
  if (reason !== null) throw new PaymentOverdue(reason)
}

/** Whether an end on that day gives back the rest. Nobody is kept from ending what is not paid for: it gives nothing back then. */
export function givesBackRest(
  current: Stripe.Subscription,
  invoices: readonly Stripe.Invoice[],
  at: Date,
): boolean {
  const isAfter = current.items.data.every((item) => item.current_period_end <= toSeconds(at))
  return isAfter || whyNotPaid(current, invoices, at) === null
}

/** What the time from that moment on is owed for, and the ways to change it all the same; null where it is paid, or free. */
function whyNotPaid(
  current: Stripe.Subscription,
  invoices: readonly Stripe.Invoice[],
  from: Date,
): string | null {
  const { status } = current
  if (OWING.includes(status)) {
    return `Its last bill is not paid (${status}), and this would give back what nobody has paid: payNow() first, or noProrate()`
  }
  if (status === 'trialing') return null
  // Given up by a pause, or by somebody.
  const bill = invoices.find((each) => isGivenUp(each) && periodEnd(each) > toSeconds(from))
  if (!bill) return null
  const until = toDate(periodEnd(bill)).toISOString()
  return `Nobody has paid for the time until ${until}, whose bill ${bill.id} is ${bill.status}, and this would give it back: noProrate(), or swapAtPeriodEnd()`
}

function periodEnd({ lines }: Stripe.Invoice): number {
  return Math.max(0, ...lines.data.map(({ period }) => period.end))
}
