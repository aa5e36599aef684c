import type Stripe from 'stripe'
import { PaymentOverdue } from '../../../../errors.ts'
import type { WantedItem } from '../../../contract/item.ts'
import { type StripeContext, toDate, toSeconds } from '../../sdk/client.ts'

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

/**
 * Stripe gives back what is unused of a price, whether or not anybody has paid for it: the customer would have credit, and
 * the bill stay open, or stay void. So whoever owes pays first; what is only added gives nothing back.
 */
export async function requireNothingOwed(
  context: StripeContext,
  current: Stripe.Subscription,
  {
    wanted,
    prorate,
    now,
  }: {
    readonly wanted: readonly WantedItem[]
    readonly prorate: boolean
    readonly now: Date
  },
): Promise<void> {
  const isKept = ({ price, quantity = 1 }: Stripe.SubscriptionItem) =>
    wanted.some((item) => item.price === price.id && (item.quantity ?? quantity) >= quantity)
  if (!prorate || current.items.data.every(isKept)) return
  const reason = await whyNotPaid(context, current, now)
  if (reason !== null) throw new PaymentOverdue(reason)
}

/** Whether an end on that day gives back the rest. Nobody is kept from ending what is not paid for: it gives nothing back then. */
export async function givesBackRest(
  context: StripeContext,
  current: Stripe.Subscription,
  at: Date,
): Promise<boolean> {
  const isAfter = current.items.data.every((item) => item.current_period_end <= toSeconds(at))
  return isAfter || (await whyNotPaid(context, current, at)) === null
}

/** What the time from that moment on is owed for, and the ways to change it all the same; null where it is paid, or free. */
async function whyNotPaid(
  context: StripeContext,
  current: Stripe.Subscription,
  from: Date,
): Promise<string | null> {
  const { status } = current
  if (OWING.includes(status)) {
    return `Its last bill is not paid (${status}), and this would give back what nobody has paid: payNow() first, or noProrate()`
  }
  if (status === 'trialing') return null
  const bill = await findGivenUp(context, current, from)
  if (bill === null) return null
  const until = toDate(periodEnd(bill)).toISOString()
  return `Nobody has paid for the time until ${until}, whose bill ${bill.id} is ${bill.status}, and this would give it back: noProrate(), or swapAtPeriodEnd()`
}

/** The renewal that has the time after that moment, where it was given up: by a pause, or by somebody. */
async function findGivenUp(
  { stripe }: StripeContext,
  { id: subscription, items }: Stripe.Subscription,
  from: Date,
): Promise<Stripe.Invoice | null> {
  const created = { gte: Math.min(...items.data.map((item) => item.current_period_start)) }
  for await (const bill of stripe.invoices.list({ subscription, created, limit: 100 })) {
    if (isGivenUp(bill) && periodEnd(bill) > toSeconds(from)) return bill
  }
  return null
}

function periodEnd({ lines }: Stripe.Invoice): number {
  return Math.max(0, ...lines.data.map(({ period }) => period.end))
}
