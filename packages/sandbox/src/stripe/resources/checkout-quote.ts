import type Stripe from 'stripe'
import { copyJson } from '../../core/store/copy-json.ts'
import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { createInvoice, refreshTotals, takeInvoiceItem } from '../invoices/invoice-draft.ts'
import { newInvoiceItem } from '../invoices/invoice-items.ts'
import { finalizeInvoice } from '../invoices/invoice-payment.ts'
import { sumOf } from '../invoices/invoice-totals.ts'
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
import { UnitOfWork } from '../state/unit-of-work.ts'
import { beginSubscription } from '../subscriptions/subscription-create.ts'
import { anchorParams } from './checkout-anchor.ts'
import type { CheckoutMode, CheckoutParams } from './checkout-rules.ts'
import { createCustomer } from './customers.ts'

/** What a session is to become, whoever pays for it. */
export interface Order {
  readonly session: string
  readonly mode: CheckoutMode
  readonly params: CheckoutParams
  /** Null as long as nobody is known. */
  readonly customer: string | null
  readonly items: readonly CheckoutItem[]
  readonly discounts: ReadonlyArray<{ coupon?: string; promotion_code?: string }>
  /** What the customer typed, as far as tax depends on it. */
  readonly address?: CustomerRow['address'] | undefined
  readonly taxId?: NewTaxId | undefined
}

export interface QuoteLine {
  /** Which item of the session it bills; null for what was pending before. */
  readonly item: number | null
  readonly description: string | null
  readonly quantity: number | null
  readonly subtotal: number
  readonly discount: number
  readonly tax: number
  readonly total: number
  readonly parts: CheckoutParts
}

/** What an order comes to now, as the invoice or the payment will say it. */
export interface Quote {
  readonly currency: string
  readonly lines: readonly QuoteLine[]
  readonly parts: CheckoutParts
  /** The discounts as they would be, by the ids that the parts have. */
  readonly discounts: Readonly<Record<string, DiscountRow>>
  readonly subtotal: number
  readonly discount: number
  /** With what is inside of prices. */
  readonly tax: number
  readonly total: number
  /** What is collected: after the customer's balance, and nothing where it is too little to charge. */
  readonly due: number
  /** Whether tax could be worked out; null where it is not worked out by itself. */
  readonly taxStatus: 'complete' | 'requires_location_inputs' | null
}

/** Does the real thing in a step of its own, reads what it comes to, and puts everything back. */
export function quoteOrder(context: StripeContext, order: Order): Quote {
  const trial = new UnitOfWork(context, { about: [order.customer ?? ''] })
  try {
    const customer = order.customer
      ? trial.require('customer', order.customer)
      : createCustomer(trial, {})
    if (order.params.automatic_tax?.enabled) moveIn(trial, order, customer)
    const before = new Set(
      trial.findBy('invoiceitem', 'customer', customer.id).map((item) => item.id),
    )
    const invoice =
      order.mode === 'subscription'
        ? begin(trial, order, customer)
        : draftOrder(trial, order, customer)
    return invoice ? read(trial, order, invoice, before) : nothing(trial, order)
  } finally {
    trial.rollback()
  }
}

/** The customer as they will be when they pay: what they typed counts where the session keeps it. */
function moveIn(work: UnitOfWork, order: Order, customer: CustomerRow): void {
  const keeps = order.customer === null || order.params.customer_update?.address === 'auto'
  if (order.address && keeps) work.edit('customer', customer).address = order.address
  if (order.taxId) addTaxId(work, customer, order.taxId)
}

function begin(work: UnitOfWork, order: Order, customer: CustomerRow): InvoiceRow | null {
  const { invoice } = beginSubscription(work, toSubscription(work, order, customer.id))
  if (invoice) finalizeInvoice(work, invoice, { withoutLocation: 'left' })
  return invoice
}

/** What the subscription of an order is made of; how it is paid is for the caller to say. */
export function toSubscription(
  work: UnitOfWork,
  order: Order,
  customer: string,
): Stripe.SubscriptionCreateParams {
  const { trial_end, trial_period_days, ...data } = order.params.subscription_data ?? {}
  const recurring = order.items.filter((item) => isRecurring(work, item))
  const once = order.items.filter((item) => !isRecurring(work, item))
  return {
    ...(data as Partial<Stripe.SubscriptionCreateParams>),
    ...anchorParams(work, order),
    customer,
    ...(order.params.currency === undefined ? {} : { currency: order.params.currency }),
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
    ...(trial_end === undefined ? {} : { trial_end }),
    ...(trial_period_days === undefined ? {} : { trial_period_days }),
  }
}

function isRecurring(work: UnitOfWork, item: CheckoutItem): boolean {
  return Boolean(work.find('price', item.price)?.recurring)
}

/** The invoice of a one-time order, a draft. `billed` may be a stand-in for a guest. */
export function draftOrder(work: UnitOfWork, order: Order, billed: CustomerRow): InvoiceRow {
  const currency = currencyOf(work, order)
  const invoice = createInvoice(work, {
    customer: billed,
    currency,
    billingReason: 'manual',
    autoAdvance: false,
    automaticTax: order.params.automatic_tax?.enabled,
  })
  for (const { price, quantity, taxRates, metadata } of order.items) {
    const item = newInvoiceItem(work, {
      customer: billed,
      currency,
      price: work.require('price', price),
      quantity: quantity ?? 1,
      taxRates: taxRates ?? null,
      metadata,
    })
    takeInvoiceItem(work, invoice, item)
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

function currencyOf(work: UnitOfWork, { params, items }: Order): string {
  return params.currency?.toLowerCase() ?? work.require('price', items[0]?.price ?? '').currency
}

/** Subscriptions and invoices belong to somebody; otherwise it is what the session asks for. */
export function createsCustomer({ mode, params }: Order): boolean {
  return (
    mode === 'subscription' ||
    params.invoice_creation?.enabled === true ||
    params.customer_creation === 'always'
  )
}

/** What an order comes to whose invoice was written when somebody first tried to pay it. */
export function quoteInvoice(work: UnitOfWork, order: Order, invoice: InvoiceRow): Quote {
  return read(work, order, invoice, new Set())
}

function read(
  work: UnitOfWork,
  order: Order,
  invoice: InvoiceRow,
  before: ReadonlySet<string>,
): Quote {
  const left = order.items.map((item) => item.price as string | null)
  const lines = work
    .findBy('line_item', 'invoice', invoice.id)
    .sort((a, b) => a.$.order - b.$.order)
    .map((line) => {
      const { invoiceItem, price } = line.$
      const at = before.has(invoiceItem ?? '') || price === null ? -1 : left.indexOf(price)
      if (at >= 0) left[at] = null
      return readLine(line, at < 0 ? null : at)
    })
  return {
    currency: invoice.currency,
    lines,
    parts: partsOf(invoice.total_discount_amounts, invoice.total_taxes),
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
    taxStatus: invoice.automatic_tax.status as Quote['taxStatus'],
  }
}

function readLine(line: LineRow, item: number | null): QuoteLine {
  const discount = sumOf(line.discount_amounts)
  const tax = sumOf(line.taxes)
  const added = sumOf((line.taxes ?? []).filter((each) => each.tax_behavior === 'exclusive'))
  const { amount: subtotal, description, quantity } = line
  const parts = partsOf(line.discount_amounts, line.taxes)
  const total = subtotal - discount + added
  return { item, description, quantity, subtotal, discount, tax, total, parts }
}

/** What an invoice or a line says of its discounts and taxes, in a checkout's words. */
export function partsOf(
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

/** Nothing is billed before the anchor. */
function nothing(work: UnitOfWork, order: Order): Quote {
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
