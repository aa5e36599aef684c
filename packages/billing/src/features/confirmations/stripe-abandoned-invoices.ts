import type Stripe from 'stripe'
import { getReferencedId, type StripeContext } from '../../providers/stripe/client.ts'
import { voidInvoice } from '../invoices/stripe-void.ts'

/**
 * First payments, and changes that wait for authentication, can be paid for 23 hours at most; the
 * rest is margin.
 */
const MAX_PENDING_SECONDS = 24 * 3600

/**
 * Voids the invoices of an ended subscription that still waited for the customer: for its first
 * payment, and for changes that were never made. Stripe would keep these invoices payable, for
 * example in an open browser tab. Invoices for services that the customer has used stay open.
 */
export async function voidAbandonedInvoices(
  context: StripeContext,
  subscription: Stripe.Subscription,
): Promise<void> {
  const { id, ended_at: endedAt } = subscription
  if (endedAt === null) return
  const listed = context.stripe.invoices.list({
    subscription: id,
    created: { gte: endedAt - MAX_PENDING_SECONDS },
    limit: 100,
  })
  for await (const invoice of listed) {
    if (!isAbandonedInvoice(subscription, invoice)) continue
    const isOpen = invoice.status === 'open'
    const isPaid = isOpen
      ? !(await voidInvoice(context, invoice.id))
      : isPaidAfter(endedAt, invoice)
    if (isPaid) {
      context.warn(
        `Invoice ${invoice.id} was paid after subscription ${id} had ended, so the customer gets nothing for it: refund it`,
        null,
      )
    }
  }
}

function isPaidAfter(endedAt: number, { status, status_transitions }: Stripe.Invoice): boolean {
  return status === 'paid' && (status_transitions.paid_at ?? 0) > endedAt
}

/**
 * Whether the customer would get nothing in return for paying this open invoice of an ended
 * subscription. `false` if the data does not decide it.
 */
export function isAbandonedInvoice(
  subscription: Stripe.Subscription,
  invoice: Stripe.Invoice,
): boolean {
  if (invoice.collection_method !== 'charge_automatically') return false
  if (invoice.billing_reason === 'subscription_create') return true
  if (invoice.billing_reason !== 'subscription_update') return false
  const isHeld =
    subscription.pending_update && getReferencedId(subscription.latest_invoice) === invoice.id
  return isHeld || wasInTrial(subscription, invoice) || !hasBilled(subscription, invoice)
}

/** Whether the invoice should have ended a trial that then continued. */
function wasInTrial({ trial_end }: Stripe.Subscription, { created }: Stripe.Invoice): boolean {
  return trial_end !== null && trial_end > created
}

/**
 * Whether the subscription has the items that the change was billed for. The invoice may contain
 * older prorations too.
 */
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
          item.price.id === getReferencedId(pricing?.price_details?.price) &&
          item.quantity === quantity,
      ),
    )
}
