import type Stripe from 'stripe'
import type { InvoiceData } from '../../../invoices/invoice.ts'
import { money } from '../../../values/money.ts'
import type { PossibleSubscription } from '../../contract/parts/subscriptions/forecasts.ts'
import type { FirstInvoices, UpcomingInvoice } from '../../contract/upcoming-invoice.ts'
import { toAddress } from '../payments/customer-details.ts'
import { completeInvoice, INVOICE_DETAILS } from '../payments/invoices.ts'
import { idOf, type StripeContext, toDate, toSeconds } from '../sdk/client.ts'
import { showWithCode } from '../subscriptions/codes/given-back.ts'
import { upcomingOf } from '../subscriptions/preview.ts'
import { createParams } from '../subscriptions/subscriptions.ts'
import { taxRates } from '../subscriptions/tax-rates.ts'

type Params = Stripe.InvoiceCreatePreviewParams
type Item = Stripe.InvoiceCreatePreviewParams.SubscriptionDetails.Item

const DAY = 86_400
const DETAILS = [...INVOICE_DETAILS, 'discounts.source.coupon']

/**
 * What is sent is made of what would be sent to begin it. Stripe shows the first invoice only; the second one is asked for
 * as the first of somebody else, without the balance and the items that the first one has used up by then.
 */
export async function firstInvoices(
  context: StripeContext,
  wanted: PossibleSubscription,
  now: Date,
): Promise<FirstInvoices> {
  const { stripe } = context
  const { customerId } = wanted
  const rates = await taxRates(context)(wanted.tax)
  const params = createParams(
    { ...wanted, customerId: customerId ?? '', name: '', operation: '' },
    rates,
  )
  const terms = termsOf(params, now)
  const first = await showWithCode(context, wanted, (given) => {
    const discounts = given ? [given] : params.discounts
    return stripe.invoices.createPreview({
      ...terms,
      ...(customerId === null ? { customer_details: detailsOf(wanted) } : { customer: customerId }),
      ...(discounts ? { discounts } : {}),
      expand: DETAILS,
    })
  })
  const shown = await completeInvoice(context, first)
  // Nothing is billed before that day: it begins free of charge, or by usage alone.
  if (first.period_end > toSeconds(now)) {
    return {
      now: nothing(first.currency, now),
      next: upcomingOf(shown, toDate(first.period_end)),
    }
  }
  return {
    now: upcomingOf(shown, now),
    next: await secondInvoice(context, { wanted, terms, first, shown, now }),
  }
}

function nothing(currency: string, date: Date): UpcomingInvoice {
  return { date, total: money(0, currency), lines: [], includedTax: money(0, currency) }
}

/** All but the customer and what is taken off. */
function termsOf(params: Stripe.SubscriptionCreateParams, now: Date): Params {
  const { items, automatic_tax, default_tax_rates, trial_period_days: days } = params
  const { billing_cycle_anchor: anchor, backdate_start_date: began, proration_behavior } = params
  const trialEnd = params.trial_end ?? (days ? toSeconds(now) + days * DAY : undefined)
  return {
    ...(automatic_tax ? { automatic_tax: { enabled: automatic_tax.enabled } } : {}),
    subscription_details: {
      items: items as Item[],
      ...(default_tax_rates ? { default_tax_rates } : {}),
      ...(trialEnd === undefined ? {} : { trial_end: trialEnd }),
      ...(anchor === undefined
        ? {}
        : { billing_cycle_anchor: { type: 'timestamp', timestamp: anchor } }),
      ...(began === undefined ? {} : { start_date: began }),
      ...(proration_behavior === undefined ? {} : { proration_behavior }),
    },
  }
}

interface First {
  readonly wanted: PossibleSubscription
  readonly terms: Params
  readonly first: Stripe.Invoice
  readonly shown: InvoiceData
  readonly now: Date
}

/**
 * Null where usage alone is billed, of which nobody knows yet what it will be, and after a trial that is followed by a share
 * of a period.
 */
async function secondInvoice(
  context: StripeContext,
  { wanted, terms, first, shown, now }: First,
): Promise<UpcomingInvoice | null> {
  const { stripe } = context
  const {
    items = [],
    trial_end: trial,
    billing_cycle_anchor: anchor,
    start_date: _began,
    proration_behavior: _share,
    ...others
  } = terms.subscription_details ?? {}
  const periods = first.lines.data.filter(
    (line) => isOfPlan(line) && line.period.end > toSeconds(now),
  )
  if (periods.length === 0 || (trial !== undefined && anchor !== undefined)) return null
  const due = Math.min(...periods.map(({ period }) => period.end))
  const over = periods.filter(({ period }) => period.end === due).map(priceOf)
  // Stripe shows the first ten lines.
  const isDue = ({ price }: Item) =>
    first.lines.has_more || (price !== undefined && over.includes(price))
  const discounts = lasting(first, due)
  const second = await stripe.invoices.createPreview({
    ...terms,
    currency: first.currency,
    customer_details: await customerDetails(context, wanted),
    ...(discounts.length > 0 ? { discounts } : {}),
    subscription_details: { ...others, items: items.filter(isDue) },
    expand: INVOICE_DETAILS,
  })
  const data = await completeInvoice(context, second)
  const balance = shown.startingBalance + shown.total - shown.amountDue
  return upcomingOf(
    { ...data, startingBalance: balance, amountDue: Math.max(0, data.total + balance) },
    toDate(due),
  )
}

/** Not what waited for any invoice, and is on the first one. */
function isOfPlan({ parent }: Stripe.InvoiceLineItem): boolean {
  return parent?.type === 'subscription_item_details'
}

function priceOf({ pricing }: Stripe.InvoiceLineItem): string | null {
  return idOf(pricing?.price_details?.price)
}

/** The coupons that still count on that day. One for a single invoice is spent where it has taken something off. */
function lasting(first: Stripe.Invoice, due: number): { coupon: string }[] {
  const taken = first.total_discount_amounts ?? []
  return (first.discounts ?? []).flatMap((discount) => {
    if (typeof discount === 'string' || 'deleted' in discount) return []
    const { coupon } = discount.source
    if (!coupon || typeof coupon === 'string') return []
    const isSpent =
      coupon.duration === 'once' &&
      taken.some(({ discount: of, amount }) => idOf(of) === discount.id && amount > 0)
    const isOver = discount.end !== null && discount.end <= due
    return isSpent || isOver ? [] : [{ coupon: coupon.id }]
  })
}

/** What decides the tax, and nothing else. */
async function customerDetails(
  { stripe }: StripeContext,
  wanted: PossibleSubscription,
): Promise<Stripe.InvoiceCreatePreviewParams.CustomerDetails> {
  if (wanted.customerId === null) return detailsOf(wanted)
  const customer = await stripe.customers.retrieve(wanted.customerId, {
    expand: ['tax', 'tax_ids'],
  })
  if (customer.deleted) return detailsOf(wanted)
  const { address, shipping, tax, tax_exempt, tax_ids } = customer
  return {
    ...(address ? { address: given(address) } : {}),
    ...(shipping?.address && shipping.name
      ? { shipping: { address: given(shipping.address), name: shipping.name } }
      : {}),
    ...(tax?.ip_address ? { tax: { ip_address: tax.ip_address } } : {}),
    tax_exempt: tax_exempt ?? 'none',
    ...(tax_ids && tax_ids.data.length > 0
      ? { tax_ids: tax_ids.data.map(({ type, value }) => ({ type, value })) as never }
      : {}),
  }
}

function given(address: Stripe.Address): Stripe.AddressParam {
  const said = Object.entries(address).filter(([, value]) => value !== null)
  return Object.fromEntries(said) as Stripe.AddressParam
}

/** Never empty: Stripe would take it for nothing. */
function detailsOf({
  details: { address },
}: PossibleSubscription): Stripe.InvoiceCreatePreviewParams.CustomerDetails {
  const place = address && toAddress(address)
  return { tax_exempt: 'none', ...(place ? { address: place } : {}) }
}
