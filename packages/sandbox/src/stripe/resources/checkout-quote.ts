import type Stripe from 'stripe'
import { copyJson } from '../../core/store/copy-json.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { createInvoice, moveItemToInvoice, refreshTotals } from '../invoices/invoice-draft.ts'
import { createInvoiceItem } from '../invoices/invoice-items.ts'
import { finalizeInvoice } from '../invoices/invoice-payment.ts'
import { sumAmounts } from '../invoices/invoice-totals.ts'
import { addTaxId, type NewTaxId } from '../payments/tax-ids.ts'
import type { StripeContext } from '../state/context.ts'
import type {
  CheckoutItem,
  CheckoutParts,
  CustomerRow,
  DiscountRow,
  InvoiceRow,
  LineRow,
} from '../state/rows.ts'
import { dryRun, type UnitOfWork } from '../state/unit-of-work.ts'
import { beginSubscription } from '../subscriptions/subscription-create.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { pickSentFields } from '../wire/fields.ts'
import { addIntervals } from '../wire/periods.ts'
import type { CheckoutMode, CheckoutParams } from './checkout-rules.ts'
import { createCustomer } from './customers.ts'

/** The purchase that a checkout session describes, independent of the customer. */
export interface CheckoutOrder {
  readonly session: string
  readonly mode: CheckoutMode
  readonly params: CheckoutParams
  /** Id of the customer. `null` while the customer is unknown. */
  readonly customer: string | null
  readonly items: readonly CheckoutItem[]
  readonly discounts: ReadonlyArray<{ coupon?: string; promotion_code?: string }>
  /** Address that the customer entered, from which the tax is calculated. */
  readonly address?: CustomerRow['address'] | undefined
  readonly taxId?: NewTaxId | undefined
}

export interface QuoteLine {
  /**
   * Index of the item in the checkout session. `null` for an invoice item that was already pending.
   */
  readonly item: number | null
  readonly description: string | null
  readonly quantity: number | null
  readonly subtotal: number
  readonly discount: number
  readonly tax: number
  readonly total: number
  readonly parts: CheckoutParts
}

/** The amounts of an order, as the invoice or payment would show them. */
export interface CheckoutQuote {
  readonly currency: string
  readonly lines: readonly QuoteLine[]
  readonly parts: CheckoutParts
  /** Preliminary discounts, by the ids that are used in `parts`. */
  readonly discounts: Readonly<Record<string, DiscountRow>>
  readonly subtotal: number
  readonly discount: number
  /** Total tax in minor units, including the tax that prices contain. */
  readonly tax: number
  readonly total: number
  /**
   * Amount to charge in minor units, after the customer's balance is applied. Zero if the amount is
   * below the minimum charge.
   */
  readonly due: number
  /** Whether the tax could be computed. `null` without automatic tax. */
  readonly taxStatus: 'complete' | 'requires_location_inputs' | null
}

/**
 * Calculates the amounts of an order: executes the order, reads the amounts and rolls everything
 * back.
 */
export function quoteOrder(context: StripeContext, order: CheckoutOrder): CheckoutQuote {
  return dryRun(context, { about: [order.customer ?? ''] }, (trial) => {
    const customer = order.customer
      ? trial.require('customer', order.customer)
      : createCustomer(trial, {})
    if (order.params.automatic_tax?.enabled) applyEnteredDetails(trial, order, customer)
    const before = new Set(
      trial.findBy('invoiceitem', 'customer', customer.id).map((item) => item.id),
    )
    const invoice =
      order.mode === 'subscription'
        ? beginOrder(trial, order, customer)
        : draftOrder(trial, order, customer)
    return invoice ? readQuote(trial, order, invoice, before) : emptyQuote(trial, order)
  })
}

/** Applies the entered address and tax id to the customer, as completing the session will. */
function applyEnteredDetails(work: UnitOfWork, order: CheckoutOrder, customer: CustomerRow): void {
  const keeps = order.customer === null || order.params.customer_update?.address === 'auto'
  if (order.address && keeps) work.edit('customer', customer).address = order.address
  if (order.taxId) addTaxId(work, customer, order.taxId)
}

function beginOrder(
  work: UnitOfWork,
  order: CheckoutOrder,
  customer: CustomerRow,
): InvoiceRow | null {
  const { invoice } = beginSubscription(work, toSubscriptionParams(work, order, customer.id))
  if (invoice) finalizeInvoice(work, invoice, { missingLocation: 'left' })
  return invoice
}

/**
 * Returns the parameters that create an order's subscription, except the parameters for its
 * payment.
 */
export function toSubscriptionParams(
  work: UnitOfWork,
  order: CheckoutOrder,
  customer: string,
): Stripe.SubscriptionCreateParams {
  const recurring = order.items.filter((item) => isRecurring(work, item))
  const once = order.items.filter((item) => !isRecurring(work, item))
  return {
    ...(order.params.subscription_data as Partial<Stripe.SubscriptionCreateParams>),
    ...anchorParams(work, order),
    customer,
    ...pickSentFields(order.params, 'currency'),
    items: recurring.map(({ price, quantity, taxRates, metadata }) => ({
      price,
      ...(quantity === null ? {} : { quantity }),
      ...(taxRates ? { tax_rates: taxRates } : {}),
      ...(metadata ? { metadata } : {}),
    })),
    ...(once.length > 0
      ? {
          add_invoice_items: once.map(({ price, quantity, taxRates }) => ({
            price,
            quantity: quantity ?? 1,
            ...(taxRates ? { tax_rates: taxRates } : {}),
          })),
        }
      : {}),
    ...(order.params.automatic_tax?.enabled ? { automatic_tax: { enabled: true } } : {}),
    ...(order.discounts.length > 0 ? { discounts: [...order.discounts] } : {}),
  }
}

function isRecurring(work: UnitOfWork, item: CheckoutItem): boolean {
  return Boolean(work.find('price', item.price)?.recurring)
}

/**
 * Drafts the invoice of a one-time order. `billed` is the customer, or a temporary customer for a
 * guest.
 */
export function draftOrder(
  work: UnitOfWork,
  order: CheckoutOrder,
  billed: CustomerRow,
): InvoiceRow {
  const currency = currencyOf(work, order)
  const invoice = createInvoice(work, {
    customer: billed,
    currency,
    billingReason: 'manual',
    autoAdvance: false,
    automaticTax: order.params.automatic_tax?.enabled,
  })
  for (const { price, quantity, taxRates, metadata } of order.items) {
    const item = createInvoiceItem(work, {
      customer: billed,
      currency,
      price: work.require('price', price),
      quantity: quantity ?? 1,
      taxRates: taxRates ?? null,
      metadata,
    })
    moveItemToInvoice(work, invoice, item)
  }
  const guest = order.customer === null && !createsCustomer(order)
  invoice.discounts = redeemDiscounts(work, order.discounts, {
    customer: guest ? null : billed,
    checkoutSession: order.session,
    currency,
  })
  refreshTotals(work, invoice)
  return invoice
}

function currencyOf(work: UnitOfWork, { params, items }: CheckoutOrder): string {
  return params.currency?.toLowerCase() ?? work.require('price', items[0]?.price ?? '').currency
}

/** Whether completing an order creates a customer. Subscriptions and invoices always need one. */
export function createsCustomer({ mode, params }: CheckoutOrder): boolean {
  return (
    mode === 'subscription' ||
    params.invoice_creation?.enabled === true ||
    params.customer_creation === 'always'
  )
}

/** Returns the amounts of an order whose invoice was created by an earlier payment attempt. */
export function quoteInvoice(
  work: UnitOfWork,
  order: CheckoutOrder,
  invoice: InvoiceRow,
): CheckoutQuote {
  return readQuote(work, order, invoice, new Set())
}

function readQuote(
  work: UnitOfWork,
  order: CheckoutOrder,
  invoice: InvoiceRow,
  earlierDiscountIds: ReadonlySet<string>,
): CheckoutQuote {
  const left = order.items.map((item) => item.price as string | null)
  const lines = work
    .findBy('line_item', 'invoice', invoice.id)
    .sort((a, b) => a.$.order - b.$.order)
    .map((line) => {
      const { invoiceItem, price } = line.$
      const at =
        earlierDiscountIds.has(invoiceItem ?? '') || price === null ? -1 : left.indexOf(price)
      if (at >= 0) left[at] = null
      return readLine(line, at < 0 ? null : at)
    })
  return {
    currency: invoice.currency,
    lines,
    parts: toCheckoutParts(invoice.total_discount_amounts, invoice.total_taxes),
    discounts: Object.fromEntries(
      (invoice.total_discount_amounts ?? []).map(({ discount }) => [
        discount,
        copyJson(work.require('discount', discount)),
      ]),
    ),
    subtotal: invoice.subtotal,
    discount: lines.reduce((sum, line) => sum + line.discount, 0),
    tax: lines.reduce((sum, line) => sum + line.tax, 0),
    total: invoice.total,
    due: order.mode === 'subscription' ? invoice.amount_due : invoice.total,
    taxStatus: invoice.automatic_tax.status as CheckoutQuote['taxStatus'],
  }
}

function readLine(line: LineRow, item: number | null): QuoteLine {
  const discount = sumAmounts(line.discount_amounts)
  const tax = sumAmounts(line.taxes)
  const added = sumAmounts((line.taxes ?? []).filter((each) => each.tax_behavior === 'exclusive'))
  const { amount: subtotal, description, quantity } = line
  const parts = toCheckoutParts(line.discount_amounts, line.taxes)
  const total = subtotal - discount + added
  return { item, description, quantity, subtotal, discount, tax, total, parts }
}

/**
 * Converts the discounts and taxes of an invoice or invoice line to the format of a checkout
 * session.
 */
export function toCheckoutParts(
  discounts: InvoiceRow['total_discount_amounts'],
  taxes: InvoiceRow['total_taxes'],
): CheckoutParts {
  return {
    discounts: (discounts ?? []).map(({ amount, discount }) => ({ amount, discount })),
    taxes: (taxes ?? []).map((tax) => ({
      amount: tax.amount,
      rate: tax.tax_rate_details?.tax_rate ?? '',
      taxability_reason: tax.taxability_reason === 'not_available' ? null : tax.taxability_reason,
      taxable_amount: tax.taxable_amount,
    })),
  }
}

/** Returns an empty quote, for an order that bills nothing before its billing cycle anchor. */
function emptyQuote(work: UnitOfWork, order: CheckoutOrder): CheckoutQuote {
  const currency = currencyOf(work, order)
  return {
    currency,
    lines: [],
    parts: { discounts: [], taxes: [] },
    discounts: {},
    subtotal: 0,
    discount: 0,
    tax: 0,
    total: 0,
    due: 0,
    taxStatus: null,
  }
}

const ANCHOR_PARAM_NAME = 'subscription_data[billing_cycle_anchor]'

type AnchorParams = Pick<
  Stripe.SubscriptionCreateParams,
  'billing_cycle_anchor' | 'backdate_start_date' | 'proration_behavior'
>

/** Returns the billing cycle anchor parameters. Checkout is stricter about them than the API. */
function anchorParams(work: UnitOfWork, order: CheckoutOrder): AnchorParams {
  const { billing_cycle_anchor: anchor, proration_behavior: proration } =
    order.params.subscription_data ?? {}
  if (anchor === undefined) return {}
  const isFree = proration === 'none'
  const recurrences = order.items.map(({ price }) => work.require('price', price).recurring)
  if (isFree && recurrences.includes(null)) {
    throw createInvalidRequestFault(
      'One-time prices can not be used when nothing is prorated.',
      ANCHOR_PARAM_NAME,
    )
  }
  if (!isFree && order.discounts.some((each) => hasFixedAmount(work, each))) {
    throw createInvalidRequestFault(
      'Coupons of a fixed amount can not be used when the time before the anchor is prorated.',
      ANCHOR_PARAM_NAME,
    )
  }
  const recurrence = recurrences.find((each) => each !== null)
  if (anchor > work.now || !recurrence) return {}
  // A session completed after its anchor bills the period that started at the anchor.
  return {
    backdate_start_date: anchor,
    billing_cycle_anchor: addIntervals(anchor, recurrence, 1),
    proration_behavior: 'create_prorations',
  }
}

function hasFixedAmount(
  work: UnitOfWork,
  { coupon, promotion_code: code }: CheckoutOrder['discounts'][number],
): boolean {
  const id = coupon ?? work.find('promotion_code', code ?? '')?.promotion.coupon ?? ''
  return (work.find('coupon', id)?.amount_off ?? null) !== null
}
