import type Stripe from 'stripe'
import { voidInvoice } from '../../payments/void-invoice.ts'
import { idOf, type StripeContext } from '../../sdk/client.ts'

/** A first payment and a held change wait for 23 hours at most. */
const WAITS = 24 * 3600

/**
 * Stripe keeps the invoices of a subscription that ends, and whoever has the page open can pay them. Closes what waited for
 * the customer: of a subscription that never began, or of a change that was never made. What is owed for what somebody had stays.
 */
export async function closeLeftUnpaid(
  context: StripeContext,
  subscription: Stripe.Subscription,
): Promise<void> {
  const { id, ended_at: endedAt } = subscription
  if (endedAt === null) return
  const listed = context.stripe.invoices.list({
    subscription: id,
    created: { gte: endedAt - WAITS },
    limit: 100,
  })
  for await (const invoice of listed) {
    if (!isForNothing(subscription, invoice)) continue
    const isOpen = invoice.status === 'open'
    const isPaid = isOpen
      ? !(await voidInvoice(context, invoice.id))
      : isPaidAfter(endedAt, invoice)
    if (isPaid) {
      context.warn(
        `Invoice ${invoice.id} was paid after subscription ${id} had ended, and nobody gets anything for it: give the money back`,
        null,
      )
    }
  }
}

function isPaidAfter(endedAt: number, { status, status_transitions }: Stripe.Invoice): boolean {
  return status === 'paid' && (status_transitions.paid_at ?? 0) > endedAt
}

/** Whether paying this invoice of a subscription that has ended gives nobody anything. Rather no than yes. */
export function isForNothing(subscription: Stripe.Subscription, invoice: Stripe.Invoice): boolean {
  if (invoice.collection_method !== 'charge_automatically') return false
  if (invoice.billing_reason === 'subscription_create') return true
  if (invoice.billing_reason !== 'subscription_update') return false
  const isHeld = subscription.pending_update && idOf(subscription.latest_invoice) === invoice.id
  return isHeld || wasInTrial(subscription, invoice) || !hasBilled(subscription, invoice)
}

/** A bill that was to end a trial, which went on. */
function wasInTrial({ trial_end }: Stripe.Subscription, { created }: Stripe.Invoice): boolean {
  return trial_end !== null && trial_end > created
}

/** Whether the subscription has what the change was billed for. Older prorations may be on the same invoice. */
function hasBilled({ items }: Stripe.Subscription, { lines }: Stripe.Invoice): boolean {
  const billed = lines.data.filter(
    ({ amount, parent }) => amount > 0 && parent?.type === 'subscription_item_details',
  )
  const newest = Math.max(...billed.map(({ period }) => period.start))
  return billed
    .filter(({ period }) => period.start === newest)
    .every(({ pricing, quantity }) =>
      items.data.some(
        (item) =>
          item.price.id === idOf(pricing?.price_details?.price) && item.quantity === quantity,
      ),
    )
}
