import { renderPriceAsPlan } from '../../state/render.ts'
import type { StripeTables } from '../../state/tables.ts'
import { type FormObject, isForm } from '../../wire/form.ts'
import type { WireObject } from '../../wire/wire-object.ts'
import { getFormPart, listFormEntries, renameField } from '../basics/form-fields.ts'
import { isRecord, renderObjectById } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

interface Tax {
  readonly amount: number
  readonly inclusive: boolean
  readonly tax_rate: string | null
  readonly taxability_reason: unknown
  readonly taxable_amount: unknown
}

/** Changes in the API versions named basil, newest first. */
export const BASIL_VERSION_CHANGES: readonly VersionChange[] = [
  // A subscription had one period for all items; since basil each item has its own.
  {
    since: '2025-03-31',
    name: 'subscription-periods',
    objects: {
      subscription(wire) {
        Object.assign(wire, periodOf(wire.items))
      },
      subscription_item: deletePeriodFields,
    },
    previous: {
      subscription(previous, now) {
        const before = periodOf(previous.items)
        for (const [field, value] of Object.entries(before)) {
          if (value !== periodOf(now.items)[field]) previous[field] = value
        }
        if (isSameExceptPeriods(previous.items, now.items)) delete previous.items
      },
    },
  },
  // Invoices had fields for their subscription and quote; since basil these are in `parent`.
  {
    since: '2025-03-31',
    name: 'invoice-parent',
    objects: {
      invoice(wire) {
        const parent = isRecord(wire.parent) ? wire.parent : {}
        const details = isRecord(parent.subscription_details) ? parent.subscription_details : null
        const quote = isRecord(parent.quote_details) ? parent.quote_details.quote : null
        wire.subscription = details?.subscription ?? null
        wire.subscription_details = details ? { metadata: details.metadata ?? null } : null
        if (details?.subscription_proration_date !== undefined) {
          wire.subscription_proration_date = details.subscription_proration_date
        }
        wire.quote = quote ?? null
        delete wire.parent
      },
    },
    expandable: { invoice: ['subscription', 'quote'] },
  },
  // An invoice had one payment and a payment one invoice; since basil invoice payments connect
  // them.
  {
    since: '2025-03-31',
    name: 'invoice-payments',
    objects: {
      invoice(wire, tables) {
        const intent = tables.invoice.get(wire.id)?.$.paymentIntent ?? null
        wire.paid = wire.status === 'paid'
        wire.paid_out_of_band = Number(wire.amount_paid_off_stripe ?? 0) > 0
        wire.payment_intent = intent
        wire.charge = tables.payment_intent.get(intent ?? '')?.latest_charge ?? null
        wire.application_fee_amount = null
        wire.transfer_data = null
      },
      payment_intent(wire, tables) {
        wire.invoice = invoiceOf(wire.id, tables)
      },
      charge(wire, tables) {
        wire.invoice = invoiceOf(wire.payment_intent, tables)
      },
    },
    expandable: {
      invoice: ['payment_intent', 'charge'],
      payment_intent: ['invoice'],
      charge: ['invoice'],
    },
  },
  // Taxes had other field names, and credits before tax had amounts of their own.
  {
    since: '2025-03-31',
    name: 'invoice-taxes',
    objects: {
      invoice(wire) {
        const taxes = toOldTaxes(wire.total_taxes)
        wire.tax = taxes.length === 0 ? null : sum(taxes)
        wire.total_tax_amounts = taxes
        delete wire.total_taxes
      },
      line_item(wire, tables) {
        const taxes = toOldTaxes(wire.taxes)
        const rates = tables.line_item.get(wire.id)?.$.taxRates ?? []
        wire.tax_amounts = taxes
        wire.tax_rates = rates.map((id) => renderObjectById('tax_rate', id, tables))
        wire.amount_excluding_tax =
          Number(wire.amount) - sum(taxes.filter(({ inclusive }) => inclusive))
        wire.unit_amount_excluding_tax = formatAmountPerUnit(wire)
        delete wire.taxes
      },
    },
    expandable: { invoice: ['total_tax_amounts.tax_rate'], line_item: ['tax_amounts.tax_rate'] },
  },
  // Invoice lines and items had separate fields for their origin and price.
  {
    since: '2025-03-31',
    name: 'line-details',
    params: { 'InvoiceItems.create': wrapPriceParam, 'InvoiceItems.update': wrapPriceParam },
    objects: {
      line_item(wire, tables) {
        const { subscription_item_details, invoice_item_details } = recordOf(wire.parent)
        const details = recordOf(subscription_item_details ?? invoice_item_details)
        const invoiceItem = details.invoice_item ?? null
        wire.type = invoiceItem === null && wire.parent !== null ? 'subscription' : 'invoiceitem'
        if (invoiceItem !== null) wire.invoice_item = invoiceItem
        if (details.subscription_item) wire.subscription_item = details.subscription_item
        wire.proration = details.proration === true
        wire.proration_details = details.proration_details ?? { credited_items: null }
        addPrice(wire, tables)
        delete wire.parent
      },
      invoiceitem(wire, tables) {
        const details = recordOf(recordOf(wire.parent).subscription_details)
        const decimal = recordOf(wire.pricing).unit_amount_decimal ?? null
        wire.subscription = details.subscription ?? null
        if (details.subscription_item) wire.subscription_item = details.subscription_item
        wire.unit_amount_decimal = decimal
        wire.unit_amount = Number.isInteger(Number(decimal ?? Number.NaN)) ? Number(decimal) : null
        addPrice(wire, tables)
        delete wire.parent
      },
    },
    expandable: {
      invoiceitem: ['subscription'],
      line_item: ['invoice_item', 'subscription_item'],
    },
  },
  // There was one discount, requested by a coupon or promotion code, instead of a list of
  // discounts.
  {
    since: '2025-03-31',
    name: 'single-discounts',
    params: {
      'Subscriptions.create': wrapDiscountParam,
      'Subscriptions.update': wrapDiscountParam,
      'Invoices.createPreview': wrapDiscountParam,
      'SubscriptionSchedules.create': wrapEachDiscountParam,
      'SubscriptionSchedules.update': wrapEachDiscountParam,
    },
    objects: {
      subscription: addFirstDiscount,
      invoice: addFirstDiscount,
      subscription_schedule(wire) {
        for (const phase of Array.isArray(wire.phases) ? wire.phases : []) {
          if (isRecord(phase)) phase.coupon = firstCoupon(phase.discounts)
        }
      },
    },
    expandable: { subscription_schedule: ['phases.coupon'] },
  },
  // The upcoming invoice had its own path and `subscription_…` parameters; since basil it is a
  // preview.
  {
    since: '2025-03-31',
    name: 'upcoming-invoices',
    routes: {
      'GET /v1/invoices/upcoming': 'Invoices.createPreview',
      'GET /v1/invoices/upcoming/lines': 'Invoices.listUpcomingLines',
    },
    params: {
      'Invoices.createPreview'(form) {
        for (const [name, value] of Object.entries(form)) {
          if (!name.startsWith('subscription_') || name === 'subscription_details') continue
          getFormPart(form, 'subscription_details')[name.slice('subscription_'.length)] ??= value
          delete form[name]
        }
      },
    },
  },
  // Metered prices could work without a meter, with an aggregation of usage records per item.
  {
    since: '2025-03-31',
    name: 'usage-records',
    removes: 'usage-records',
    routes: {
      'POST /v1/subscription_items/:id/usage_records': 'SubscriptionItems.createUsageRecord',
      'GET /v1/subscription_items/:id/usage_record_summaries':
        'SubscriptionItems.listUsageRecordSummaries',
    },
    params: {
      'Prices.create'(form) {
        const { recurring } = form
        if (!isForm(recurring) || recurring.usage_type !== 'metered') return
        if (recurring.meter !== undefined) return
        form.aggregate_usage = recurring.aggregate_usage ?? 'sum'
        delete recurring.aggregate_usage
      },
      'Plans.create'(form) {
        if (form.usage_type === 'metered' && form.meter === undefined)
          form.aggregate_usage ??= 'sum'
      },
    },
    removedParams: { 'Prices.create': ['aggregate_usage'], 'Plans.create': ['aggregate_usage'] },
    objects: {
      price(wire, tables) {
        if (!isRecord(wire.recurring)) return
        wire.recurring.aggregate_usage = tables.price.get(wire.id)?.$?.aggregateUsage ?? null
      },
      plan(wire, tables) {
        wire.aggregate_usage = tables.price.get(wire.id)?.$?.aggregateUsage ?? null
      },
    },
  },
  // Checkout sessions had their own field for shipping details; since basil it is in
  // `collected_information`.
  {
    since: '2025-03-31',
    name: 'checkout-shipping',
    objects: {
      'checkout.session'(wire) {
        const collected = wire.collected_information
        wire.shipping_details = isRecord(collected) ? (collected.shipping_details ?? null) : null
      },
    },
  },
  // A checkout session created its subscription on the first attempt to pay; since basil only after
  // the payment.
  {
    since: '2025-03-31',
    name: 'checkout-subscriptions',
    removes: 'subscription-before-payment',
  },
  // A credit note was linked to at most one refund; since basil to several, or to parts of them.
  {
    since: '2025-03-31',
    name: 'credit-note-refund',
    params: {
      'CreditNotes.create': wrapRefundParam,
      'CreditNotes.preview': wrapRefundParam,
      'CreditNotes.listPreviewLineItems': wrapRefundParam,
    },
    objects: {
      credit_note(wire) {
        const [first] = Array.isArray(wire.refunds) ? wire.refunds : []
        wire.refund = isRecord(first) ? (first.refund ?? null) : null
        delete wire.refunds
      },
    },
    expandable: { credit_note: ['refund'] },
  },
  // A customer could have a coupon, which applied to all purchases without another discount.
  {
    since: '2025-03-31',
    name: 'customer-coupon',
    removedParams: {
      'Customers.create': ['coupon', 'promotion_code'],
      'Customers.update': ['coupon', 'promotion_code'],
    },
  },
  // `expand` could request the total number of rows of a list.
  {
    since: '2025-03-31',
    name: 'list-totals',
    expandable: { list: ['total_count'] },
  },
]

function deletePeriodFields(item: Record<string, unknown>): void {
  delete item.current_period_start
  delete item.current_period_end
}

/** Returns the shortest period of the items. Empty if there are no items. */
function periodOf(items: unknown): Readonly<Record<string, number>> {
  const periods = itemsIn(items).map((item) => ({
    current_period_start: Number(item.current_period_start),
    current_period_end: Number(item.current_period_end),
  }))
  const length = (period: (typeof periods)[number]) =>
    period.current_period_end - period.current_period_start
  return periods.sort((a, b) => length(a) - length(b))[0] ?? {}
}

function itemsIn(items: unknown): WireObject[] {
  return isRecord(items) && Array.isArray(items.data) ? (items.data as WireObject[]) : []
}

function isSameExceptPeriods(before: unknown, now: unknown): boolean {
  return isRecord(before) && withoutPeriods(before) === withoutPeriods(now)
}

function withoutPeriods(items: unknown): string {
  return JSON.stringify(
    itemsIn(items).map((item) => {
      const rest: Record<string, unknown> = { ...item }
      deletePeriodFields(rest)
      return rest
    }),
  )
}

function invoiceOf(paymentIntent: unknown, tables: StripeTables): string | null {
  return tables.payment_intent.get(String(paymentIntent))?.$.invoice ?? null
}

function toOldTaxes(taxes: unknown): Tax[] {
  if (!Array.isArray(taxes)) return []
  return taxes.filter(isRecord).map((tax) => ({
    amount: Number(tax.amount),
    inclusive: tax.tax_behavior === 'inclusive',
    tax_rate: isRecord(tax.tax_rate_details) ? String(tax.tax_rate_details.tax_rate) : null,
    // The value was null where basil says `not_available`.
    taxability_reason: tax.taxability_reason === 'not_available' ? null : tax.taxability_reason,
    taxable_amount: tax.taxable_amount,
  }))
}

function sum(taxes: readonly Tax[]): number {
  return taxes.reduce((total, { amount }) => total + amount, 0)
}

/** Formats an amount per unit as a decimal with at most twelve places. */
function formatAmountPerUnit(line: WireObject): string | null {
  const quantity = Number(line.quantity ?? 1)
  if (quantity === 0) return null
  const amount = Number(line.amount_excluding_tax) / quantity
  return Number.isInteger(amount) ? String(amount) : amount.toFixed(12).replace(/\.?0+$/, '')
}

function wrapPriceParam(form: FormObject): void {
  const { price } = form
  if (price !== undefined && form.pricing === undefined) {
    form.pricing = { price }
    delete form.price
  }
  renameField(form, 'unit_amount', 'unit_amount_decimal')
}

/** Adds the complete price and, if it is recurring, its legacy plan. */
function addPrice(wire: WireObject, tables: StripeTables): void {
  const { price } = recordOf(recordOf(wire.pricing).price_details)
  const row = tables.price.get(String(price))
  wire.price = renderObjectById('price', price, tables)
  wire.plan = row?.recurring ? renderPriceAsPlan(row) : null
  delete wire.pricing
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function addFirstDiscount(wire: WireObject, tables: StripeTables): void {
  const [first] = Array.isArray(wire.discounts) ? wire.discounts : []
  wire.discount = renderObjectById('discount', first, tables)
}

function firstCoupon(discounts: unknown): unknown {
  const [first] = Array.isArray(discounts) ? discounts : []
  return isRecord(first) ? (first.coupon ?? null) : null
}

function wrapDiscountParam(form: FormObject): void {
  for (const name of ['coupon', 'promotion_code']) {
    const value = form[name]
    if (value === undefined || form.discounts !== undefined) continue
    // In all versions, an empty value removes the discount.
    form.discounts = value === '' ? '' : { 0: { [name]: value } }
    delete form[name]
  }
}

function wrapEachDiscountParam(form: FormObject): void {
  for (const phase of listFormEntries(form, 'phases')) wrapDiscountParam(phase)
}

function wrapRefundParam(form: FormObject): void {
  const { refund } = form
  if (refund === undefined || form.refunds !== undefined) return
  form.refunds = { 0: { refund } }
  delete form.refund
}
