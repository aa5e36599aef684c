import type Stripe from 'stripe'
import { money } from '../../money.ts'
import type { Gateway, Swap, SwapPreview } from '../gateway.ts'
import { idOf, type StripeContext } from './client.ts'
import { itemId, throwUnpaid } from './subscriptions.ts'
import { taxRates } from './tax-rates.ts'

type Swaps = Pick<Gateway, 'needsReplacement' | 'swap' | 'replace' | 'previewSwap'>

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
    needsReplacement: async () => false,
    swap,
    replace: () => Promise.reject(new Error('Stripe swaps in place')),
    async previewSwap(id, wanted, at) {
      const current = await stripe.subscriptions.retrieve(id)
      const rates = await findTaxRates(wanted.tax)
      const now = wanted.prorationDate ?? at
      const { items, proration_behavior } = changes(current, wanted)
      const endsTrial = wanted.skipTrial && current.status === 'trialing'
      const invoice = await stripe.invoices.createPreview({
        subscription: id,
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
      return describePreview(invoice, {
        now,
        immediately: wanted.invoiceNow || endsTrial || changesRhythm(current, price),
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

function changesRhythm(current: Stripe.Subscription, price: Stripe.Price): boolean {
  const old = current.items.data[0]?.price.recurring
  const { recurring } = price
  return (
    current.status !== 'trialing' &&
    (old?.interval !== recurring?.interval || old?.interval_count !== recurring?.interval_count)
  )
}

function describePreview(
  invoice: Stripe.Invoice,
  { now, immediately }: { now: Date; immediately: boolean },
): SwapPreview {
  const { currency } = invoice
  const lines = invoice.lines.data.map((line) => ({
    description: line.description ?? '',
    amount: money(line.amount, currency),
  }))
  const credit = lines.reduce((sum, { amount }) => sum + Math.max(0, -amount.amount), 0)
  return {
    immediately,
    total: money(Math.max(0, invoice.amount_due), currency),
    credit: money(credit, currency),
    lines,
    prorationDate: now,
  }
}
