import type Stripe from 'stripe'
import { money } from '../../core/values/money.ts'
import {
  getReferencedId,
  type StripeContext,
  toDate,
  toSeconds,
} from '../../providers/stripe/client.ts'
import { toStripeAddress } from '../customers/stripe.ts'
import type { InvoiceData } from '../invoices/invoice.ts'
import { INVOICE_EXPAND_PARAM, readCompleteInvoice } from '../invoices/stripe.ts'
import { previewWithPromotionCode } from '../promotion-codes/stripe-replacement-codes.ts'
import { buildSubscriptionCreateParams } from '../subscribe/stripe.ts'
import { toUpcomingInvoice } from '../swap/stripe-preview.ts'
import { createTaxRateFinder } from '../taxes/stripe-chosen-tax.ts'
import type { PreviewedSubscription } from './contract.ts'
import type { FirstInvoices, UpcomingInvoice } from './upcoming-invoice.ts'

type Params = Stripe.InvoiceCreatePreviewParams
type Item = Stripe.InvoiceCreatePreviewParams.SubscriptionDetails.Item

const DAY = 86_400
const DETAILS = [...INVOICE_EXPAND_PARAM, 'discounts.source.coupon']

/**
 * Previews the first two invoices of a new subscription, with the parameters that would create it.
 * Stripe previews only the first invoice. The second one is therefore requested as the first
 * invoice of a new customer, because the first one has used up the customer's balance and pending
 * invoice items.
 */
export async function previewFirstInvoices(
  context: StripeContext,
  previewedSubscription: PreviewedSubscription,
  now: Date,
): Promise<FirstInvoices> {
  const { stripe } = context
  const { customerId } = previewedSubscription
  const rates = await createTaxRateFinder(context)(previewedSubscription.tax)
  const params = buildSubscriptionCreateParams(
    { ...previewedSubscription, customerId: customerId ?? '', name: '', operation: '' },
    rates,
  )
  const terms = buildPreviewTerms(params, now)
  const first = await previewWithPromotionCode(context, previewedSubscription, (given) => {
    const discounts = given ? [given] : params.discounts
    return stripe.invoices.createPreview({
      ...terms,
      ...(customerId === null
        ? { customer_details: buildNewCustomerDetails(previewedSubscription) }
        : { customer: customerId }),
      ...(discounts ? { discounts } : {}),
      expand: DETAILS,
    })
  })
  const shown = await readCompleteInvoice(context, first)
  // Nothing is billed immediately: the subscription starts free of charge, or bills usage only.
  if (first.period_end > toSeconds(now)) {
    return {
      now: emptyInvoice(first.currency, now),
      next: toUpcomingInvoice(shown, toDate(first.period_end)),
    }
  }
  return {
    now: toUpcomingInvoice(shown, now),
    next: await previewSecondInvoice(context, {
      wanted: previewedSubscription,
      terms,
      first,
      shown,
      now,
    }),
  }
}

function emptyInvoice(currency: string, date: Date): UpcomingInvoice {
  return { date, total: money(0, currency), lines: [], includedTax: money(0, currency) }
}

/** Returns the parameters of a preview, except for the customer and discounts. */
function buildPreviewTerms(params: Stripe.SubscriptionCreateParams, now: Date): Params {
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

interface FirstInvoicePreview {
  readonly wanted: PreviewedSubscription
  readonly terms: Params
  readonly first: Stripe.Invoice
  readonly shown: InvoiceData
  readonly now: Date
}

/**
 * Previews the second invoice. `null` if only usage is billed, which is not known yet, or a trial
 * is followed by a partial period.
 */
async function previewSecondInvoice(
  context: StripeContext,
  { wanted, terms, first, shown, now }: FirstInvoicePreview,
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
    (line) => isSubscriptionLine(line) && line.period.end > toSeconds(now),
  )
  if (periods.length === 0 || (trial !== undefined && anchor !== undefined)) return null
  const due = Math.min(...periods.map(({ period }) => period.end))
  const over = periods.filter(({ period }) => period.end === due).map(priceOf)
  // A preview contains only the first ten lines.
  const isDue = ({ price }: Item) =>
    first.lines.has_more || (price !== undefined && over.includes(price))
  const discounts = listLastingCoupons(first, due)
  const second = await stripe.invoices.createPreview({
    ...terms,
    currency: first.currency,
    customer_details: await customerDetails(context, wanted),
    ...(discounts.length > 0 ? { discounts } : {}),
    subscription_details: { ...others, items: items.filter(isDue) },
    expand: INVOICE_EXPAND_PARAM,
  })
  const data = await readCompleteInvoice(context, second)
  const balance = shown.startingBalance + shown.total - shown.amountDue
  return toUpcomingInvoice(
    { ...data, startingBalance: balance, amountDue: Math.max(0, data.total + balance) },
    toDate(due),
  )
}

/**
 * Whether a line belongs to the subscription, and not to invoice items that waited for the next
 * invoice.
 */
function isSubscriptionLine({ parent }: Stripe.InvoiceLineItem): boolean {
  return parent?.type === 'subscription_item_details'
}

function priceOf({ pricing }: Stripe.InvoiceLineItem): string | null {
  return getReferencedId(pricing?.price_details?.price)
}

/**
 * Returns the coupons that still apply at the time `due`. A coupon for one invoice is used up once
 * it has reduced an amount.
 */
function listLastingCoupons(first: Stripe.Invoice, due: number): { coupon: string }[] {
  const taken = first.total_discount_amounts ?? []
  return (first.discounts ?? []).flatMap((discount) => {
    if (typeof discount === 'string' || 'deleted' in discount) return []
    const { coupon } = discount.source
    if (!coupon || typeof coupon === 'string') return []
    const isSpent =
      coupon.duration === 'once' &&
      taken.some(({ discount: of, amount }) => getReferencedId(of) === discount.id && amount > 0)
    const isOver = discount.end !== null && discount.end <= due
    return isSpent || isOver ? [] : [{ coupon: coupon.id }]
  })
}

/** Returns the customer details that decide the tax. */
async function customerDetails(
  { stripe }: StripeContext,
  wanted: PreviewedSubscription,
): Promise<Stripe.InvoiceCreatePreviewParams.CustomerDetails> {
  if (wanted.customerId === null) return buildNewCustomerDetails(wanted)
  const customer = await stripe.customers.retrieve(wanted.customerId, {
    expand: ['tax', 'tax_ids'],
  })
  if (customer.deleted) return buildNewCustomerDetails(wanted)
  const { address, shipping, tax, tax_exempt, tax_ids } = customer
  return {
    ...(address ? { address: omitNullFields(address) } : {}),
    ...(shipping?.address && shipping.name
      ? { shipping: { address: omitNullFields(shipping.address), name: shipping.name } }
      : {}),
    ...(tax?.ip_address ? { tax: { ip_address: tax.ip_address } } : {}),
    tax_exempt: tax_exempt ?? 'none',
    ...(tax_ids && tax_ids.data.length > 0
      ? { tax_ids: tax_ids.data.map(({ type, value }) => ({ type, value })) as never }
      : {}),
  }
}

function omitNullFields(address: Stripe.Address): Stripe.AddressParam {
  const said = Object.entries(address).filter(([, value]) => value !== null)
  return Object.fromEntries(said) as Stripe.AddressParam
}

/**
 * Returns the details of a new customer. Never empty, because Stripe would ignore an empty object.
 */
function buildNewCustomerDetails({
  details: { address },
}: PreviewedSubscription): Stripe.InvoiceCreatePreviewParams.CustomerDetails {
  const place = address && toStripeAddress(address)
  return { tax_exempt: 'none', ...(place ? { address: place } : {}) }
}
