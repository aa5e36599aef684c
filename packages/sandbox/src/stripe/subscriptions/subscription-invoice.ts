import { multiplyFraction } from '../../core/rounding.ts'
import { describePart } from '../catalog/describe-price.ts'
import { partsOf } from '../catalog/tiers.ts'
import {
  addLine,
  createInvoice,
  pendingItems,
  refreshTotals,
  takeInvoiceItem,
} from '../invoices/invoice-draft.ts'
import { sumOf } from '../invoices/invoice-totals.ts'
import { addUsageLines } from '../invoices/usage-lines.ts'
import { endDiscount, liveDiscounts } from '../state/discounts.ts'
import type {
  BilledPeriod,
  InvoiceRow,
  LineRow,
  PriceRow,
  SubscriptionItemRow,
  SubscriptionRow,
} from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { ONE } from '../wire/decimals.ts'
import { billedEnd } from './proration.ts'
import { isMeteredItem, type UsagePeriod } from './usage.ts'

export interface SubscriptionInvoice {
  readonly reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update'
  /** The items whose current period is billed. */
  readonly items: readonly SubscriptionItemRow[]
  /** Also everything pending of the customer, or of this subscription alone. */
  readonly pending: 'all' | 'subscription'
  readonly autoAdvance?: boolean
  readonly periodStart?: number
  /** Bills periods in full although the subscription ends before they do. */
  readonly wholePeriods?: boolean
  /** What was used in periods that are over. */
  readonly usage?: readonly UsagePeriod[]
}

/** A draft that bills the current period of some items and what is pending. */
export function draftSubscriptionInvoice(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  options: SubscriptionInvoice,
): InvoiceRow {
  dropEndedDiscounts(work, subscription)
  const customer = work.require('customer', subscription.customer)
  const invoice = createInvoice(work, {
    customer,
    currency: subscription.currency,
    subscription,
    billingReason: options.reason,
    autoAdvance: options.autoAdvance ?? true,
    periodStart: options.periodStart ?? work.now,
    periodEnd: work.now,
  })
  for (const item of pendingItems(work, customer.id, subscription.currency, subscription.id)) {
    if (options.pending === 'subscription' && item.$.subscription === null) continue
    takeInvoiceItem(work, invoice, item)
  }
  for (const { item, start, end } of options.usage ?? []) {
    addUsageLines(work, invoice, {
      price: work.require('price', item.price),
      period: { start, end },
      subscription: subscription.id,
      subscriptionItem: item.id,
      taxRates: item.tax_rates,
      discounts: item.discounts,
      metadata: item.metadata,
    })
  }
  const lines = options.items.map((item) => {
    if (!isMeteredItem(work, item)) return addItemLines(work, invoice, subscription, item, options)
    // Classic mode also shows what will be billed by usage, at nothing.
    return subscription.billing_mode.type === 'classic' && options.usage === undefined
      ? [addEmptyLine(work, invoice, subscription, item)]
      : []
  })
  refreshTotals(work, invoice)
  const trialing = subscription.status === 'trialing'
  options.items.forEach((item, at) => {
    const own = lines[at] ?? []
    const billed = trialing || isMeteredItem(work, item) ? null : billedPeriod(item, own)
    work.edit('subscription_item', item).$.billed = billed
  })
  work.edit('subscription', subscription).latest_invoice = invoice.id
  return invoice
}

/** The current period of an item, one line for each tier. */
function addItemLines(
  work: UnitOfWork,
  invoice: InvoiceRow,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  { wholePeriods = false }: SubscriptionInvoice,
): LineRow[] {
  const { currency } = subscription
  const price = work.require('price', item.price)
  const trialing = subscription.status === 'trialing'
  const { current_period_start: start, current_period_end: end } = item
  const until = wholePeriods || trialing ? end : billedEnd(subscription, item)
  const quantity = BigInt(item.quantity ?? 1) * ONE
  const parts = trialing
    ? [{ quantity, unitAmount: '0', amount: 0, tier: null }]
    : partsOf(price, quantity, currency)
  return parts.map((part) =>
    addLine(work, invoice, {
      ...lineOf(subscription, item, price),
      amount: multiplyFraction(part.amount, until - start, end - start),
      description: trialing ? trialOf(work, price) : describePart(work, price, part, currency),
      quantity: part.quantity,
      period: { start, end: until },
      unitAmountDecimal: part.unitAmount,
      proration: until < end,
    }),
  )
}

function addEmptyLine(
  work: UnitOfWork,
  invoice: InvoiceRow,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): LineRow {
  const { currency, status } = subscription
  const price = work.require('price', item.price)
  const [part] = partsOf(price, 0n, currency)
  const described = part && describePart(work, price, part, currency)
  return addLine(work, invoice, {
    ...lineOf(subscription, item, price),
    amount: 0,
    description: status === 'trialing' ? trialOf(work, price) : (described ?? null),
    quantity: 0,
    period: { start: item.current_period_start, end: item.current_period_end },
    unitAmountDecimal: part?.unitAmount ?? '0',
    proration: false,
  })
}

function lineOf(subscription: SubscriptionRow, item: SubscriptionItemRow, price: PriceRow) {
  return {
    price: price.id,
    product: price.product,
    taxRates: item.tax_rates,
    discountable: true,
    discounts: item.discounts,
    metadata: item.metadata,
    subscription: subscription.id,
    subscriptionItem: item.id,
    invoiceItem: null,
  }
}

function trialOf(work: UnitOfWork, price: PriceRow): string {
  return `Trial period for ${work.find('product', price.product)?.name ?? price.id}`
}

/** Lines for a part of the period still say what the whole is worth. */
function billedPeriod(item: SubscriptionItemRow, lines: readonly LineRow[]): BilledPeriod | null {
  const [first] = lines
  if (!first) return null
  const { start, end: until } = first.period
  const end = item.current_period_end
  const net = lines.reduce((sum, line) => sum + line.amount - sumOf(line.discount_amounts), 0)
  if (until === end) return { amount: net, start, end }
  return { amount: multiplyFraction(net, end - start, until - start), start, end, until }
}

/** Repeating discounts whose months are over. */
function dropEndedDiscounts(work: UnitOfWork, subscription: SubscriptionRow): void {
  const live = liveDiscounts(work, subscription.discounts, work.now)
  if (live.length === subscription.discounts.length) return
  work.edit('subscription', subscription)
  for (const id of subscription.discounts) if (!live.includes(id)) endDiscount(work, id)
  subscription.discounts = live
}

/** A draft of these items would be empty: what is metered is billed later, and nothing else is pending. */
export function wouldBeEmpty(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  { items, pending }: Pick<SubscriptionInvoice, 'items' | 'pending'>,
): boolean {
  if (subscription.billing_mode.type === 'classic') return false
  const { customer, currency, id } = subscription
  if (!items.every((item) => isMeteredItem(work, item))) return false
  return !pendingItems(work, customer, currency, id).some(
    (item) => pending === 'all' || item.$.subscription === id,
  )
}
