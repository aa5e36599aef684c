import { multiplyFraction } from '../../core/rounding.ts'
import { unitAmountIn } from '../catalog/currency-options.ts'
import {
  addLine,
  createInvoice,
  pendingItems,
  refreshTotals,
  takeInvoiceItem,
} from '../invoices/invoice-draft.ts'
import { sumOf } from '../invoices/invoice-totals.ts'
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
import { formatAmount } from '../wire/money.ts'
import { billedEnd, fullAmount } from './proration.ts'

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
  const trialing = subscription.status === 'trialing'
  const lines = options.items.map((item) => {
    const price = work.require('price', item.price)
    const quantity = item.quantity ?? 1
    const { current_period_start: start, current_period_end: end } = item
    const until = options.wholePeriods ? end : billedEnd(subscription, item)
    const whole = fullAmount(price, quantity, subscription.currency)
    return addLine(work, invoice, {
      amount: trialing ? 0 : multiplyFraction(whole, until - start, end - start),
      description: describe(work, price, subscription.currency, quantity, trialing),
      quantity,
      period: { start, end: trialing ? end : until },
      price: price.id,
      product: price.product,
      unitAmountDecimal: trialing ? '0' : unitAmountIn(price, subscription.currency),
      taxRates: item.tax_rates,
      discountable: true,
      discounts: item.discounts,
      metadata: item.metadata,
      subscription: subscription.id,
      subscriptionItem: item.id,
      invoiceItem: null,
      proration: !trialing && until < end,
    })
  })
  refreshTotals(work, invoice)
  options.items.forEach((item, at) => {
    const line = lines[at]
    if (!line) return
    work.edit('subscription_item', item).$.billed = trialing ? null : billedPeriod(item, line)
  })
  work.edit('subscription', subscription).latest_invoice = invoice.id
  return invoice
}

/** A line for a part of the period still says what the whole is worth. */
function billedPeriod(item: SubscriptionItemRow, line: LineRow): BilledPeriod {
  const { start, end: until } = line.period
  const end = item.current_period_end
  const net = line.amount - sumOf(line.discount_amounts)
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

function describe(
  work: UnitOfWork,
  price: PriceRow,
  currency: string,
  quantity: number,
  trialing: boolean,
): string {
  const name = work.find('product', price.product)?.name ?? price.id
  if (trialing) return `Trial period for ${name}`
  const count = price.recurring?.interval_count ?? 1
  const interval = price.recurring?.interval ?? ''
  const every = count === 1 ? interval : `every ${count} ${interval}s`
  const amount = formatAmount(fullAmount(price, 1, currency), currency)
  return `${quantity} × ${name} (at ${amount} / ${every})`
}
