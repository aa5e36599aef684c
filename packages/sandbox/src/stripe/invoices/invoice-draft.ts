import { listCustomerTaxIds } from '../payments/tax-ids.ts'
import { listInheritedDiscounts } from '../state/discounts.ts'
import type {
  CustomerRow,
  InvoiceItemRow,
  InvoiceRow,
  LineRow,
  SubscriptionRow,
} from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { formatFixedPoint, parseFixedPoint, UNITS_PER_ONE } from '../wire/decimals.ts'
import { AUTOMATIC_TAX, NO_AUTOMATIC_TAX } from './automatic-tax.ts'
import { computeTotals } from './invoice-totals.ts'

/** Values shared by all invoices. Never changed in place. */
const SHARED_VALUES = {
  issuer: { type: 'self' },
  paymentSettings: {
    default_mandate: null,
    payment_method_options: null,
    payment_method_types: null,
  },
} satisfies Record<string, object>

export interface NewInvoice {
  readonly customer: CustomerRow
  readonly currency: string
  readonly subscription?: SubscriptionRow | null
  readonly billingReason: NonNullable<InvoiceRow['billing_reason']>
  readonly autoAdvance: boolean
  /** Whether the invoice has automatic tax. Defaults to the setting of the subscription. */
  readonly automaticTax?: boolean | undefined
  readonly periodStart?: number
  readonly periodEnd?: number
}

/** Creates a draft invoice without lines. The caller adds the lines and finalizes the invoice. */
export function createInvoice(work: UnitOfWork, options: NewInvoice): InvoiceRow {
  const { customer, subscription = null } = options
  const method = subscription?.collection_method ?? 'charge_automatically'
  const invoice: InvoiceRow = {
    account_tax_ids: null,
    application: null,
    automatically_finalizes_at: null,
    custom_fields: null,
    customer_account: null,
    default_source: null,
    effective_at: null,
    ending_balance: null,
    footer: null,
    from_invoice: null,
    last_finalization_error: null,
    latest_revision: null,
    next_payment_attempt: null,
    number: null,
    on_behalf_of: null,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    statement_descriptor: null,
    webhooks_delivered_at: null,
    id: work.newId('in_1'),
    object: 'invoice',
    account_country: 'US',
    account_name: 'Tollgate sandbox',
    amount_due: 0,
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: 0,
    amount_shipping: 0,
    attempt_count: 0,
    attempted: false,
    auto_advance: options.autoAdvance,
    automatic_tax:
      (options.automaticTax ?? subscription?.automatic_tax.enabled)
        ? AUTOMATIC_TAX
        : NO_AUTOMATIC_TAX,
    billing_reason: options.billingReason,
    collection_method: method,
    created: work.now,
    currency: options.currency,
    customer: customer.id,
    customer_address: customer.address ?? null,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: customer.phone ?? null,
    customer_shipping: customer.shipping as InvoiceRow['customer_shipping'],
    customer_tax_exempt: customer.tax_exempt ?? 'none',
    customer_tax_ids: copyTaxIds(work, customer),
    default_payment_method: null,
    default_tax_rates: [...(subscription?.default_tax_rates ?? [])],
    description: subscription?.description ?? null,
    discounts: [...listInheritedDiscounts(work, customer, subscription)],
    due_date:
      method === 'send_invoice' ? work.now + (subscription?.days_until_due ?? 30) * 86_400 : null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    issuer: SHARED_VALUES.issuer,
    livemode: false,
    metadata: {},
    parent: subscription
      ? {
          quote_details: null,
          subscription_details: {
            metadata: { ...subscription.metadata },
            subscription: subscription.id,
          },
          type: 'subscription_details',
        }
      : null,
    payment_settings: SHARED_VALUES.paymentSettings,
    period_end: options.periodEnd ?? work.now,
    period_start: options.periodStart ?? work.now,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    starting_balance: customer.balance,
    status: 'draft',
    status_transitions: {
      finalized_at: null,
      marked_uncollectible_at: null,
      paid_at: null,
      voided_at: null,
    },
    subtotal: 0,
    subtotal_excluding_tax: 0,
    test_clock: customer.test_clock ?? null,
    total: 0,
    total_discount_amounts: [],
    total_excluding_tax: 0,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    $: {
      subscription: subscription?.id ?? null,
      paymentIntent: null,
      nextAt: null,
    },
    lines: undefined,
  }
  if (customer.currency === null || customer.currency === undefined) {
    work.edit('customer', customer).currency = options.currency
  }
  return work.insert('invoice', invoice)
}

export interface NewInvoiceLine {
  readonly amount: number
  readonly description: string | null
  /**
   * Number of units of the line: a plain number, or a bigint as a fixed-point number (see
   * `wire/decimals.ts`).
   */
  readonly quantity: number | bigint | null
  readonly period: { readonly start: number; readonly end: number }
  readonly price: string | null
  readonly product: string | null
  readonly unitAmountDecimal: string | null
  readonly taxRates: readonly string[] | null
  readonly discountable: boolean
  readonly discounts?: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
  readonly subscription: string | null
  /** Id of the subscription item that the line bills. `null` for all other lines. */
  readonly subscriptionItem: string | null
  readonly invoiceItem: string | null
  readonly proration: boolean
  readonly taxBehavior?: string | undefined
  readonly taxCode?: string | undefined
}

export function addLine(work: UnitOfWork, invoice: InvoiceRow, line: NewInvoiceLine): LineRow {
  const order = work.findBy('line_item', 'invoice', invoice.id).length
  const { quantity: count } = line
  const row: LineRow = {
    id: work.newId('il_1'),
    object: 'line_item',
    amount: line.amount,
    currency: invoice.currency,
    description: line.description,
    discount_amounts: [],
    discountable: line.discountable,
    discounts: [...(line.discounts ?? [])],
    invoice: invoice.id,
    livemode: false,
    metadata: { ...line.metadata },
    parent: buildLineParent(line),
    period: { ...line.period },
    pretax_credit_amounts: [],
    pricing:
      line.price === null || line.product === null
        ? null
        : {
            price_details: { price: line.price, product: line.product },
            type: 'price_details',
            unit_amount_decimal: line.unitAmountDecimal,
          },
    quantity: typeof count === 'bigint' ? Number(count / UNITS_PER_ONE) : count,
    quantity_decimal:
      typeof count === 'bigint' ? formatFixedPoint(count) : (count?.toString() ?? null),
    subscription: line.subscription,
    subtotal: line.amount,
    taxes: [],
    $: {
      taxRates: line.taxRates && line.taxRates.length > 0 ? [...line.taxRates] : null,
      invoiceItem: line.invoiceItem,
      price: line.price,
      product: line.product,
      item: line.subscriptionItem,
      order,
      ...(line.taxBehavior === undefined ? {} : { taxBehavior: line.taxBehavior }),
      ...(line.taxCode === undefined ? {} : { taxCode: line.taxCode }),
    },
  }
  return work.insert('line_item', row)
}

function buildLineParent(line: NewInvoiceLine): LineRow['parent'] {
  if (line.subscriptionItem !== null) {
    return {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: line.invoiceItem,
        proration: line.proration,
        proration_details: { credited_items: null },
        subscription: line.subscription,
        subscription_item: line.subscriptionItem,
      },
      type: 'subscription_item_details',
    }
  }
  if (line.invoiceItem === null) return null
  return {
    invoice_item_details: {
      invoice_item: line.invoiceItem,
      proration: line.proration,
      proration_details: { credited_items: null },
      subscription: line.subscription,
    },
    subscription_item_details: null,
    type: 'invoice_item_details',
  }
}

/** Moves a pending invoice item to a draft invoice. */
export function moveItemToInvoice(
  work: UnitOfWork,
  invoice: InvoiceRow,
  item: InvoiceItemRow,
): LineRow {
  work.edit('invoiceitem', item).invoice = invoice.id
  work.tables.invoiceitem.set(item.id, item)
  return addLine(work, invoice, {
    amount: item.amount,
    description: item.description,
    quantity: parseFixedPoint(String(item.quantity_decimal ?? item.quantity)),
    period: item.period,
    price: item.$.price,
    product: item.$.product,
    unitAmountDecimal: item.pricing?.unit_amount_decimal ?? null,
    taxRates: item.tax_rates,
    discountable: item.discountable,
    discounts: item.discounts ?? [],
    metadata: item.metadata ?? {},
    subscription: item.$.subscription,
    subscriptionItem: item.$.item,
    invoiceItem: item.id,
    proration: item.proration,
    taxBehavior: item.$.taxBehavior,
    taxCode: item.$.taxCode,
  })
}

/**
 * Returns a customer's pending invoice items in a currency: the items of the given subscription,
 * and the items without a subscription.
 */
export function listPendingItems(
  work: UnitOfWork,
  customer: string,
  currency: string,
  subscription: string | null,
): InvoiceItemRow[] {
  return work
    .findBy('invoiceitem', 'customer', customer)
    .filter(
      (item) =>
        item.invoice === null &&
        item.currency === currency &&
        (item.$.subscription === null || item.$.subscription === subscription),
    )
}

/**
 * Calculates the totals of a draft invoice again, after its lines, discounts or taxes have changed.
 */
export function refreshTotals(work: UnitOfWork, invoice: InvoiceRow): void {
  work.edit('invoice', invoice)
  const lines = work.findBy('line_item', 'invoice', invoice.id)
  const customer = work.find('customer', invoice.customer ?? '')
  if (invoice.status === 'draft') {
    invoice.starting_balance = customer?.balance ?? 0
    invoice.customer_address = customer?.address ?? null
    invoice.customer_tax_exempt = customer?.tax_exempt ?? 'none'
  }
  computeTotals(work, invoice, lines)
}

export function copyTaxIds(
  work: UnitOfWork,
  customer: CustomerRow,
): NonNullable<InvoiceRow['customer_tax_ids']> {
  return listCustomerTaxIds(work, customer).map(({ type, value }) => ({ type, value }))
}
