import type Stripe from 'stripe'
import type { Gateway } from '../../contract/gateway.ts'
import type { Swap } from '../../contract/swap.ts'
import { completeInvoice, INVOICE_DETAILS } from '../payments/invoices.ts'
import { idOf, type StripeContext, toDate } from '../sdk/client.ts'
import { throwUnpaid } from './confirmations.ts'
import { previewOf } from './preview.ts'
import { itemId } from './subscriptions.ts'
import { taxRates } from './tax-rates.ts'

type Swaps = Pick<Gateway, 'swap' | 'previewSwap'>

/** Stripe changes the plan in place, whatever its rhythm. */
export function stripeSwaps(context: StripeContext): Swaps {
  const { stripe } = context
  const findTaxRates = taxRates(context)

  async function swap(id: string, wanted: Swap): Promise<void> {
    const current = await stripe.subscriptions.retrieve(id)
    const resumes = isCancelling(current)
    const endsTrial = wanted.skipTrial && current.status === 'trialing'
    const [item] = current.items.data
    if (item?.price.id === wanted.plan && !resumes && !endsTrial) return
    const rates = await findTaxRates(wanted.tax)
    const params: Stripe.SubscriptionUpdateParams = {
      ...changes(current, wanted),
      default_tax_rates: rates.length > 0 ? rates : '',
      ...(resumes ? undoCancel(current) : {}),
      ...(endsTrial ? { trial_end: 'now' as const } : {}),
      ...(wanted.prorationDate && wanted.prorate
        ? { proration_date: Math.floor(wanted.prorationDate.getTime() / 1000) }
        : {}),
    }
    await pay(params, id)
  }

  /** A declined payment undoes the swap; one that needs the customer leaves it and says so. */
  async function pay(params: Stripe.SubscriptionUpdateParams, id: string): Promise<void> {
    try {
      await stripe.subscriptions.update(id, { ...params, payment_behavior: 'error_if_incomplete' })
    } catch (error) {
      const { code } = error as { code?: unknown }
      if (code !== 'subscription_payment_intent_requires_action') throw error
      const { latest_invoice } = await stripe.subscriptions.update(id, {
        ...params,
        payment_behavior: 'allow_incomplete',
      })
      const invoice = idOf(latest_invoice)
      if (invoice) await throwUnpaid(stripe, invoice)
    }
  }

  return {
    swap,
    async previewSwap(id, wanted, at) {
      const current = await stripe.subscriptions.retrieve(id)
      const rates = await findTaxRates(wanted.tax)
      const now = wanted.prorationDate ?? at
      const { items, proration_behavior } = changes(current, wanted)
      const endsTrial = wanted.skipTrial && current.status === 'trialing'
      const invoice = await stripe.invoices.createPreview({
        subscription: id,
        expand: INVOICE_DETAILS,
        subscription_details: {
          items: items as Stripe.InvoiceCreatePreviewParams.SubscriptionDetails.Item[],
          proration_behavior,
          default_tax_rates: rates.length > 0 ? rates : '',
          // One that is to end has no next invoice; the swap takes that back.
          ...(isCancelling(current) ? undoCancel(current) : {}),
          ...(endsTrial ? { trial_end: 'now' as const } : {}),
          ...(wanted.prorate && !endsTrial && current.status !== 'trialing'
            ? { proration_date: Math.floor(now.getTime() / 1000) }
            : {}),
        },
      })
      const price = await stripe.prices.retrieve(wanted.plan)
      const immediately = wanted.invoiceNow || endsTrial || billsAtOnce(current, price)
      return previewOf(await completeInvoice(context, invoice), {
        immediately,
        date: immediately ? at : toDate(invoice.period_end),
        prorationDate: now,
      })
    },
  }
}

function changes(
  current: Stripe.Subscription,
  wanted: Swap,
): Pick<Stripe.SubscriptionUpdateParams, 'items'> & {
  proration_behavior: 'always_invoice' | 'create_prorations' | 'none'
} {
  const [item] = current.items.data
  const quantity = item?.quantity
  return {
    items: [
      {
        ...itemId(current.items),
        price: wanted.plan,
        ...(quantity === undefined ? {} : { quantity }),
      },
    ],
    proration_behavior: wanted.prorate
      ? wanted.invoiceNow
        ? 'always_invoice'
        : 'create_prorations'
      : 'none',
  }
}

function isCancelling(current: Stripe.Subscription): boolean {
  return current.cancel_at_period_end || current.cancel_at !== null
}

function undoCancel(
  current: Stripe.Subscription,
): Pick<Stripe.SubscriptionUpdateParams, 'cancel_at_period_end'> & { cancel_at?: '' } {
  return current.cancel_at_period_end ? { cancel_at_period_end: false } : { cancel_at: '' }
}

/** Another rhythm starts a new period, and so does the first price of a free subscription. */
function billsAtOnce(current: Stripe.Subscription, price: Stripe.Price): boolean {
  if (current.status === 'trialing') return false
  const old = current.items.data[0]?.price
  const changesRhythm =
    old?.recurring?.interval !== price.recurring?.interval ||
    old?.recurring?.interval_count !== price.recurring?.interval_count
  return changesRhythm || (old?.unit_amount === 0 && price.unit_amount !== 0)
}
