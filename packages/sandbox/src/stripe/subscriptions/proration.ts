import type Stripe from 'stripe'
import { multiplyFraction } from '../../core/rounding.ts'
import { amountOffIn } from '../catalog/coupons.ts'
import { unitAmountIn } from '../catalog/currency-options.ts'
import { amountOf, isMetered } from '../catalog/tiers.ts'
import { couponOf, inheritedDiscounts, liveDiscounts } from '../state/discounts.ts'
import type {
  BilledPeriod,
  InvoiceItemRow,
  PriceRow,
  SubscriptionItemRow,
  SubscriptionRow,
} from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { percentOf } from '../wire/money.ts'
import { type Period, periodAt } from '../wire/periods.ts'
import { nulls } from '../wire/wire.ts'

/** What a price bills in advance for a quantity over a whole period, before discounts. Usage is billed afterwards. */
export function fullAmount(price: PriceRow, quantity: number, currency: string): number {
  return isMetered(price) ? 0 : amountOf(price, quantity, currency)
}

/** What unused time is worth: the amount billed for the whole period, by the second. */
export function unusedAmount(billed: BilledPeriod, at: number): number {
  const left = Math.max(0, paidUntil(billed) - Math.max(at, billed.start))
  return multiplyFraction(billed.amount, left, billed.end - billed.start)
}

function paidUntil(billed: BilledPeriod): number {
  return billed.until ?? billed.end
}

/** Where the time that is billed ends: with the period, or with the subscription before it. */
export function billedEnd(subscription: SubscriptionRow, item: SubscriptionItemRow): number {
  const { cancel_at: cancelAt } = subscription
  const { current_period_start: start, current_period_end: end } = item
  return cancelAt !== null && cancelAt > start && cancelAt < end ? cancelAt : end
}

/** The period that an item's price is for. A subscription's first one may begin within it. */
export function wholePeriod(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): Period {
  const { current_period_start: start, current_period_end: end } = item
  const { recurring } = work.require('price', item.price)
  const whole = recurring && periodAt(subscription.billing_cycle_anchor, recurring, start)
  return whole?.end === end ? whole : { start, end }
}

/** A full amount less the subscription's lasting discounts, as prorations are net of them. */
export function discountedAmount(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  price: PriceRow,
  amount: number,
): number {
  let net = amount
  const customer = work.find('customer', subscription.customer)
  const discounts = inheritedDiscounts(work, customer, subscription)
  for (const id of liveDiscounts(work, discounts, work.now)) {
    const coupon = couponOf(work, id)
    if (!coupon || coupon.duration === 'once') continue
    if (coupon.$.products && !coupon.$.products.includes(price.product)) continue
    net -=
      coupon.percent_off !== null
        ? percentOf(net, coupon.percent_off)
        : Math.min(net, amountOffIn(coupon, subscription.currency) ?? 0)
  }
  return net
}

/** Credits the unused time of what was billed, as a pending invoice item. Nothing billed, no credit. */
export function creditUnused(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  at: number,
): void {
  const billed = creditedFrom(work, subscription, item)
  if (!billed || paidUntil(billed) <= at) return
  const amount = unusedAmount(billed, at)
  addProration(work, subscription, item, {
    amount: 0 - amount,
    start: at,
    end: paidUntil(billed),
    verb: 'Unused',
  })
}

/**
 * What unused time is credited from. Flexible billing mode credits what was billed; classic credits
 * the item's present price, quantity and discounts, whatever was billed for them.
 */
function creditedFrom(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): BilledPeriod | null {
  const { billed } = item.$
  if (!billed || subscription.billing_mode.type === 'flexible') return billed
  const price = work.require('price', item.price)
  const full = fullAmount(price, item.quantity ?? 1, subscription.currency)
  return { ...billed, amount: discountedAmount(work, subscription, price, full) }
}

/**
 * A subscription that is to end within a period that was billed gets the rest of it back; one that
 * is to go on after all pays for it again.
 */
export function prorateEnd(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): boolean {
  const billed = creditedFrom(work, subscription, item)
  if (!billed) return false
  const [before, after] = [paidUntil(billed), billedEnd(subscription, item)]
  if (before === after) return false
  const [start, end] = [Math.min(before, after), Math.max(before, after)]
  const share = multiplyFraction(billed.amount, end - start, billed.end - billed.start)
  const part =
    after < before
      ? { amount: 0 - share, start, end, verb: 'Unused' as const }
      : { amount: share, start, end, verb: 'Remaining' as const }
  addProration(work, subscription, item, part)
  const { until: _until, ...period } = item.$.billed ?? billed
  work.edit('subscription_item', item).$.billed =
    after === period.end ? period : { ...period, until: after }
  return true
}

/** Debits the rest of the period at the item's price, and remembers it as billed. Usage has no rest. */
export function debitRemaining(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  at: number,
): void {
  const price = work.require('price', item.price)
  if (isMetered(price)) return
  const full = fullAmount(price, item.quantity ?? 1, subscription.currency)
  const whole = discountedAmount(work, subscription, price, full)
  const until = billedEnd(subscription, item)
  const period = wholePeriod(work, subscription, item)
  const billed: BilledPeriod = {
    amount: whole,
    ...period,
    ...(until === period.end ? {} : { until }),
  }
  const amount = unusedAmount(billed, at)
  addProration(work, subscription, item, { amount, start: at, end: until, verb: 'Remaining' })
  work.edit('subscription_item', item).$.billed = billed
}

function addProration(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  part: { amount: number; start: number; end: number; verb: 'Unused' | 'Remaining' },
): InvoiceItemRow {
  const price = work.require('price', item.price)
  const quantity = item.quantity ?? 1
  const id = work.newId('ii_1')
  return work.insert(
    'invoiceitem',
    {
      ...nulls<Stripe.InvoiceItem>('invoiceitem'),
      id,
      object: 'invoiceitem',
      amount: part.amount,
      currency: subscription.currency,
      customer: subscription.customer,
      date: work.now,
      description: describeTime(work, item, part.verb, part.start),
      discountable: false,
      discounts: [],
      livemode: false,
      metadata: {},
      net_amount: part.amount,
      parent: {
        subscription_details: { subscription: subscription.id, subscription_item: item.id },
        type: 'subscription_details',
      },
      period: { start: part.start, end: part.end },
      pricing: {
        price_details: { price: price.id, product: price.product },
        type: 'price_details',
        unit_amount_decimal: unitAmountIn(price, subscription.currency),
      },
      proration: true,
      proration_details: { credited_items: null, discount_amounts: [] },
      quantity,
      quantity_decimal: String(quantity),
      tax_rates: item.tax_rates.length > 0 ? [...item.tax_rates] : null,
      test_clock: subscription.test_clock,
      $: { price: price.id, product: price.product, subscription: subscription.id, item: item.id },
    },
    'invoiceitem.created',
  )
}

/** `Remaining time on 2 × Gold after 15 Jan 2026` */
export function describeTime(
  work: UnitOfWork,
  item: SubscriptionItemRow,
  verb: 'Unused' | 'Remaining',
  after: number,
): string {
  const price = work.require('price', item.price)
  const product = work.find('product', price.product)
  const quantity = item.quantity ?? 1
  const name = `${quantity > 1 ? `${quantity} × ` : ''}${product?.name ?? price.id}`
  return `${verb} time on ${name} after ${shortDate(after)}`
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `15 Jan 2026` */
export function shortDate(seconds: number): string {
  const date = new Date(seconds * 1000)
  return `${String(date.getUTCDate()).padStart(2, '0')} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}
