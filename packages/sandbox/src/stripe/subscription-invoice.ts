import { endDiscount, liveDiscounts } from './discounts.ts'
import {
  addLine,
  createInvoice,
  pendingItems,
  refreshTotals,
  takeInvoiceItem,
} from './invoice-draft.ts'
import { sumOf } from './invoice-totals.ts'
import { formatAmount } from './money.ts'
import { fullAmount } from './proration.ts'
import type { InvoiceRow, PriceRow, SubscriptionItemRow, SubscriptionRow } from './rows.ts'
import type { UnitOfWork } from './unit-of-work.ts'

export interface SubscriptionInvoice {
  readonly reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update'
  /** The items whose current period is billed. */
  readonly items: readonly SubscriptionItemRow[]
  /** Also everything pending of the customer, or of this subscription alone. */
  readonly pending: 'all' | 'subscription'
  readonly autoAdvance?: boolean
  readonly periodStart?: number
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
    return addLine(work, invoice, {
      amount: trialing ? 0 : fullAmount(price, quantity),
      description: describe(work, price, quantity, trialing),
      quantity,
      period: { start: item.current_period_start, end: item.current_period_end },
      price: price.id,
      product: price.product,
      unitAmountDecimal: trialing ? '0' : price.unit_amount_decimal,
      taxRates: item.tax_rates,
      discountable: true,
      discounts: item.discounts,
      metadata: item.metadata,
      subscription: subscription.id,
      subscriptionItem: item.id,
      invoiceItem: null,
      proration: false,
    })
  })
  refreshTotals(work, invoice)
  options.items.forEach((item, at) => {
    const line = lines[at]
    if (!line) return
    work.edit('subscription_item', item).$.billed = trialing
      ? null
      : { amount: line.amount - sumOf(line.discount_amounts), ...line.period }
  })
  work.edit('subscription', subscription).latest_invoice = invoice.id
  return invoice
}

/** Repeating discounts whose months are over. */
function dropEndedDiscounts(work: UnitOfWork, subscription: SubscriptionRow): void {
  const live = liveDiscounts(work, subscription.discounts, work.now)
  if (live.length === subscription.discounts.length) return
  work.edit('subscription', subscription)
  for (const id of subscription.discounts) if (!live.includes(id)) endDiscount(work, id)
  subscription.discounts = live
}

function describe(work: UnitOfWork, price: PriceRow, quantity: number, trialing: boolean): string {
  const name = work.find('product', price.product)?.name ?? price.id
  if (trialing) return `Trial period for ${name}`
  const count = price.recurring?.interval_count ?? 1
  const interval = price.recurring?.interval ?? ''
  const every = count === 1 ? interval : `every ${count} ${interval}s`
  const amount = formatAmount(fullAmount(price, 1), price.currency)
  return `${quantity} × ${name} (at ${amount} / ${every})`
}
