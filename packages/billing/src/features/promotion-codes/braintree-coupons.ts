import type braintree from 'braintree'
import { money, toDecimal } from '../../core/values/money.ts'
import { addTax, type BasisPoints, removeTax } from '../../core/values/tax.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import {
  type AddOnOrDiscount,
  getModificationAmount,
  hasCyclesLeft,
} from '../../providers/braintree/plan-credit.ts'
import type { PlanWithAddOns } from '../../providers/braintree/plans.ts'

/** A price without tax, in the currency's smallest unit, and the tax in hundredths of a percent. */
export interface NetPrice {
  readonly net: number
  readonly tax: BasisPoints
}

/**
 * Converts coupon values to discounts on a price that includes tax, so that the tax applies to the
 * reduced price, as at Stripe. The coupons apply one after the other, and never reduce the price
 * below zero. The discounts are rounded so that their sum is exact.
 */
export function toGrossDiscounts({ net, tax }: NetPrice, coupons: readonly number[]): number[] {
  let rest = net
  return coupons.map((coupon) => {
    const left = Math.max(0, rest - coupon)
    const taken = addTax(rest, tax) - addTax(left, tax)
    rest = left
    return taken
  })
}

/**
 * Inverts `toGrossDiscounts()`: converts discounts on a price that includes tax back to coupon
 * values. `takesAll`: the coupon reduces the price to zero, so its value may be higher than its
 * discount shows.
 */
export function toNetCouponValues(
  { net, tax }: NetPrice,
  amounts: readonly number[],
): { readonly coupon: number; readonly takesAll: boolean }[] {
  let rest = net
  return amounts.map((amount) => {
    const left = removeTax(Math.max(0, addTax(rest, tax) - amount), tax)
    const coupon = rest - left
    rest = left
    return { coupon, takesAll: left === 0 }
  })
}

/**
 * A discount of a Braintree subscription that still applies, with the amount to subtract as a
 * decimal string.
 */
export interface TaxedCoupon {
  readonly discount: AddOnOrDiscount
  readonly amount: string
  readonly isChanged: boolean
}

/**
 * Recalculates the discounts of a subscription's coupons for another price or tax. Leaves out the
 * discount that holds credit from swaps.
 */
export function recalculateCoupons(
  { discounts = [] }: braintree.Subscription,
  terms: {
    readonly currency: string
    readonly planCredit: string
    /** The price before the change. If `null`, the discounts are taken as coupon values. */
    readonly before: NetPrice | null
    readonly after: NetPrice
    readonly worth: ReadonlyMap<string, number>
  },
): TaxedCoupon[] {
  const coupons = discounts.filter(({ id }) => id !== terms.planCredit).filter(hasCyclesLeft)
  const amounts = coupons.map((each) => getModificationAmount(each, terms))
  const { before } = terms
  const values = before
    ? toNetCouponValues(before, amounts).map(({ coupon, takesAll }, at) =>
        takesAll ? Math.max(coupon, terms.worth.get(coupons[at]?.id ?? '') ?? 0) : coupon,
      )
    : amounts
  const taken = toGrossDiscounts(terms.after, values)
  return coupons.map((discount, at) => ({
    discount,
    amount: toDecimal(money(taken[at] ?? 0, terms.currency)),
    isChanged: taken[at] !== amounts[at],
  }))
}

/** Returns the recalculated discounts as part of a subscription update. */
export function buildDiscountUpdates(
  coupons: readonly TaxedCoupon[],
): Pick<braintree.SubscriptionUpdateRequest, 'discounts'> {
  const update = coupons
    .filter(({ isChanged }) => isChanged)
    .map(({ discount, amount }) => ({ existingId: discount.id, amount, quantity: 1 }))
  return update.length === 0 ? {} : { discounts: { update } }
}

/**
 * Reads the values of the subscription's coupons as defined in Braintree's control panel, by id.
 * Sends no request if the subscription has none.
 */
export async function readCouponValues(
  { gateway, currency, planCredit }: BraintreeContext,
  { discounts = [] }: braintree.Subscription,
): Promise<ReadonlyMap<string, number>> {
  if (discounts.every(({ id }) => id === planCredit)) return new Map()
  return new Map(
    (await gateway.discount.all()).map((each) => [
      each.id,
      getModificationAmount(each, { currency }),
    ]),
  )
}

/**
 * Returns the discounts for the request that creates a subscription: the discounts of its plan, and
 * the coupon.
 */
export async function buildNewSubscriptionDiscounts(
  { gateway, currency }: BraintreeContext,
  plan: PlanWithAddOns,
  { coupon, tax }: { readonly coupon: string | null; readonly tax: BasisPoints },
): Promise<Pick<braintree.SubscriptionCreateRequest, 'discounts'>> {
  const known = coupon === null ? [] : await gateway.discount.all()
  // Braintree rejects an unknown discount.
  const own = known.filter(({ id }) => id === coupon)
  const amounts = [...plan.discounts, ...own].map((each) =>
    getModificationAmount(each, { currency }),
  )
  const taken = toGrossDiscounts({ net: plan.price, tax }, amounts)
  const changed = (at: number) =>
    taken[at] === amounts[at] ? {} : { amount: toDecimal(money(taken[at] ?? 0, currency)) }
  const update = buildPlanDiscountUpdates(plan, taken, currency)
  const add =
    coupon === null ? [] : [{ inheritedFromId: coupon, ...changed(plan.discounts.length) }]
  if (add.length === 0 && update.length === 0) return {}
  return {
    discounts: { ...(add.length > 0 ? { add } : {}), ...(update.length > 0 ? { update } : {}) },
  }
}

/**
 * Returns updates for the discounts that the plan defines, because their configured values ignore
 * the tax.
 */
export function buildPlanDiscountUpdates(
  { discounts }: PlanWithAddOns,
  discountAmounts: readonly number[],
  currency: string,
): braintree.DiscountUpdateRequest[] {
  return discounts.flatMap((each, at) =>
    discountAmounts[at] === getModificationAmount(each, { currency })
      ? []
      : [{ existingId: each.id, amount: toDecimal(money(discountAmounts[at] ?? 0, currency)) }],
  )
}
