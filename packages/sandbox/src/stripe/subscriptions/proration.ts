import { multiplyFraction } from '../../core/rounding.ts'
import { findAmountOff } from '../catalog/coupons.ts'
import { findUnitAmount } from '../catalog/currency-options.ts'
import { computeCost, isMeteredPriceRow } from '../catalog/tiers.ts'
import { createBlankRow } from '../state/blank.ts'
import {
  filterLiveDiscounts,
  findDiscountCoupon,
  listInheritedDiscounts,
} from '../state/discounts.ts'
import type {
  BilledPeriod,
  InvoiceItemRow,
  PriceRow,
  SubscriptionItemRow,
  SubscriptionRow,
} from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { formatFixedPoint, UNITS_PER_ONE } from '../wire/decimals.ts'
import { computePercentage } from '../wire/money.ts'
import { type BillingPeriod, findPeriodAt } from '../wire/periods.ts'

/**
 * Returns the amount in minor units that a price bills in advance for a whole period, before
 * discounts. Zero for metered prices, which are billed afterwards.
 */
export function computePeriodAmount(price: PriceRow, quantity: number, currency: string): number {
  return isMeteredPriceRow(price) ? 0 : computeCost(price, quantity, currency)
}

/**
 * Returns the part of a billed amount for the time after `at`, calculated by the second, in minor
 * units.
 */
export function computeUnusedAmount(billed: BilledPeriod, at: number): number {
  const left = Math.max(0, paidUntil(billed) - Math.max(at, billed.start))
  return multiplyFraction(billed.amount, left, billed.end - billed.start)
}

function paidUntil(billed: BilledPeriod): number {
  return billed.until ?? billed.end
}

/**
 * Returns the end of the time that was billed for an item, in Unix seconds: the end of the period,
 * or of the subscription if it ends earlier.
 */
export function findBilledPeriodEnd(
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): number {
  const { cancel_at: cancelAt } = subscription
  const { current_period_start: start, current_period_end: end } = item
  return cancelAt !== null && cancelAt > start && cancelAt < end ? cancelAt : end
}

/**
 * Returns the whole period that an item's price is for. The subscription may have started within
 * this period.
 */
export function findWholePeriod(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): BillingPeriod {
  const { current_period_start: start, current_period_end: end } = item
  const { recurring } = work.require('price', item.price)
  const whole = recurring && findPeriodAt(subscription.billing_cycle_anchor, recurring, start)
  return whole?.end === end ? whole : { start, end }
}

/**
 * Subtracts the subscription's lasting discounts from an amount, because prorations are calculated
 * after discounts.
 */
export function subtractDiscounts(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  price: PriceRow,
  amount: number,
): number {
  let net = amount
  const customer = work.find('customer', subscription.customer)
  const discounts = listInheritedDiscounts(work, customer, subscription)
  for (const id of filterLiveDiscounts(work, discounts, work.now)) {
    const coupon = findDiscountCoupon(work, id)
    if (!coupon || coupon.duration === 'once') continue
    if (coupon.$.products && !coupon.$.products.includes(price.product)) continue
    net -=
      coupon.percent_off !== null
        ? computePercentage(net, coupon.percent_off)
        : Math.min(net, findAmountOff(coupon, subscription.currency) ?? 0)
  }
  return net
}

/**
 * Credits the unused time of an item's billed period as a pending invoice item. There is no credit
 * if nothing was billed.
 */
export function creditUnusedTime(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  at: number,
): void {
  const billed = findCreditBase(work, subscription, item)
  if (!billed || paidUntil(billed) <= at) return
  const amount = computeUnusedAmount(billed, at)
  addProration(work, subscription, item, {
    amount: 0 - amount,
    start: at,
    end: paidUntil(billed),
    verb: 'Unused',
  })
}

/**
 * Returns the amount unused time is credited from. Flexible billing mode credits what was billed;
 * classic mode credits the present price, quantity and discounts.
 */
function findCreditBase(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): BilledPeriod | null {
  const { billed } = item.$
  if (!billed || subscription.billing_mode.type === 'flexible') return billed
  const price = work.require('price', item.price)
  const full = computePeriodAmount(price, item.quantity ?? 1, subscription.currency)
  return { ...billed, amount: subtractDiscounts(work, subscription, price, full) }
}

/**
 * Prorates an item after the subscription's end was changed: credits the billed time after a new
 * end, or charges that time again if the end is removed. Returns whether an invoice item was added.
 */
export function prorateEnd(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
): boolean {
  const billed = findCreditBase(work, subscription, item)
  if (!billed) return false
  const [before, after] = [paidUntil(billed), findBilledPeriodEnd(subscription, item)]
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

/**
 * Charges the rest of an item's period at the item's price, and records it as billed. Metered
 * prices charge nothing in advance.
 */
export function debitRemainingTime(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  at: number,
): void {
  const price = work.require('price', item.price)
  if (isMeteredPriceRow(price)) return
  const full = computePeriodAmount(price, item.quantity ?? 1, subscription.currency)
  const whole = subtractDiscounts(work, subscription, price, full)
  const until = findBilledPeriodEnd(subscription, item)
  const period = findWholePeriod(work, subscription, item)
  const billed: BilledPeriod = {
    amount: whole,
    ...period,
    ...(until === period.end ? {} : { until }),
  }
  const amount = computeUnusedAmount(billed, at)
  addProration(work, subscription, item, { amount, start: at, end: until, verb: 'Remaining' })
  work.edit('subscription_item', item).$.billed = billed
}

function addProration(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  part: { amount: number; start: number; end: number; verb: 'Unused' | 'Remaining' },
): void {
  const price = work.require('price', item.price)
  const { amount, start, end, verb } = part
  addPendingItem(work, subscription, item, {
    amount,
    description: describeTime(work, item, verb, start),
    discountable: false,
    discounts: [],
    period: { start, end },
    proration: true,
    quantity: BigInt(item.quantity ?? 1) * UNITS_PER_ONE,
    unitAmount: findUnitAmount(price, subscription.currency),
  })
}

interface PendingItem
  extends Pick<
    InvoiceItemRow,
    'amount' | 'description' | 'discountable' | 'discounts' | 'period' | 'proration'
  > {
  /** Quantity as a fixed-point number (see `wire/decimals.ts`). */
  readonly quantity: bigint
  readonly unitAmount: string | null
}

/**
 * Adds a pending invoice item about a subscription item. The next invoice of the subscription
 * contains it.
 */
export function addPendingItem(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  item: SubscriptionItemRow,
  { quantity, unitAmount, ...part }: PendingItem,
): void {
  const { id: price, product } = work.require('price', item.price)
  const { id, currency, customer, test_clock } = subscription
  work.insert(
    'invoiceitem',
    {
      ...createBlankRow('invoiceitem'),
      ...part,
      id: work.newId('ii_1'),
      currency,
      customer,
      date: work.now,
      metadata: {},
      net_amount: part.amount,
      parent: {
        subscription_details: { subscription: id, subscription_item: item.id },
        type: 'subscription_details',
      },
      pricing: {
        price_details: { price, product },
        type: 'price_details',
        unit_amount_decimal: unitAmount,
      },
      proration_details: { credited_items: null, discount_amounts: [] },
      quantity: Math.trunc(Number(formatFixedPoint(quantity))),
      quantity_decimal: formatFixedPoint(quantity),
      tax_rates: item.tax_rates.length > 0 ? [...item.tax_rates] : null,
      test_clock,
      $: { price, product, subscription: id, item: item.id },
    },
    'invoiceitem.created',
  )
}

/**
 * Returns the description of a proration, such as `Remaining time on 2 × Gold after 15 Jan 2026`.
 */
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
  return `${verb} time on ${name} after ${formatShortDate(after)}`
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** Formats Unix seconds as a date such as `15 Jan 2026`. */
export function formatShortDate(seconds: number): string {
  const date = new Date(seconds * 1000)
  return `${String(date.getUTCDate()).padStart(2, '0')} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}
