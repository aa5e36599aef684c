import type braintree from 'braintree'
import { money, toDecimal } from '../../core/values/money.ts'
import { addTax, type BasisPoints, removeTax } from '../../core/values/tax.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import {
  amountOf,
  hasCyclesLeft,
  type Modification,
} from '../../providers/braintree/plan-credit.ts'
import type { Plan } from '../../providers/braintree/plans.ts'

/** A price without its tax, and the tax. */
export interface NetPrice {
  readonly net: number
  readonly tax: BasisPoints
}

/**
 * Returns the discounts to subtract from a price that includes tax, so that the tax applies to the
 * reduced price and nothing goes below zero, as at Stripe. Coupons apply one after the other, and
 * add up to the cent.
 */
export function grossCoupons({ net, tax }: NetPrice, coupons: readonly number[]): number[] {
  let rest = net
  return coupons.map((coupon) => {
    const left = Math.max(0, rest - coupon)
    const taken = addTax(rest, tax) - addTax(left, tax)
    rest = left
    return taken
  })
}

/**
 * Returns the coupon values behind the discounts that `grossCoupons()` returned. A coupon that
 * reduces the price to zero may be worth more than its discount.
 */
export function netCoupons(
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

/** A discount that still applies, with the amount to subtract as Braintree writes it. */
export interface TaxedCoupon {
  readonly discount: Modification
  readonly amount: string
  readonly isChanged: boolean
}

/**
 * Returns the subscription's coupons for another price or tax. Credit from swaps is not a coupon.
 */
export function couponsOn(
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
  const amounts = coupons.map((each) => amountOf(each, terms))
  const { before } = terms
  const values = before
    ? netCoupons(before, amounts).map(({ coupon, takesAll }, at) =>
        takesAll ? Math.max(coupon, terms.worth.get(coupons[at]?.id ?? '') ?? 0) : coupon,
      )
    : amounts
  const taken = grossCoupons(terms.after, values)
  return coupons.map((discount, at) => ({
    discount,
    amount: toDecimal(money(taken[at] ?? 0, terms.currency)),
    isChanged: taken[at] !== amounts[at],
  }))
}

/** Returns the changed discounts as part of an update. */
export function discountUpdates(
  coupons: readonly TaxedCoupon[],
): Pick<braintree.SubscriptionUpdateRequest, 'discounts'> {
  const update = coupons
    .filter(({ isChanged }) => isChanged)
    .map(({ discount, amount }) => ({ existingId: discount.id, amount, quantity: 1 }))
  return update.length === 0 ? {} : { discounts: { update } }
}

/**
 * Reads the values of discounts in the control panel. Sends no request if the subscription has
 * none.
 */
export async function worthOfCoupons(
  { gateway, currency, planCredit }: BraintreeContext,
  { discounts = [] }: braintree.Subscription,
): Promise<ReadonlyMap<string, number>> {
  if (discounts.every(({ id }) => id === planCredit)) return new Map()
  return new Map(
    (await gateway.discount.all()).map((each) => [each.id, amountOf(each, { currency })]),
  )
}

/** Returns the discounts of a new subscription: those of the plan, and the coupon. */
export async function discountsOfNew(
  { gateway, currency }: BraintreeContext,
  plan: Plan,
  { coupon, tax }: { readonly coupon: string | null; readonly tax: BasisPoints },
): Promise<Pick<braintree.SubscriptionCreateRequest, 'discounts'>> {
  const known = coupon === null ? [] : await gateway.discount.all()
  // Braintree rejects an unknown discount.
  const own = known.filter(({ id }) => id === coupon)
  const amounts = [...plan.discounts, ...own].map((each) => amountOf(each, { currency }))
  const taken = grossCoupons({ net: plan.price, tax }, amounts)
  const changed = (at: number) =>
    taken[at] === amounts[at] ? {} : { amount: toDecimal(money(taken[at] ?? 0, currency)) }
  const update = updatesOfPlan(plan, taken, currency)
  const add =
    coupon === null ? [] : [{ inheritedFromId: coupon, ...changed(plan.discounts.length) }]
  if (add.length === 0 && update.length === 0) return {}
  return {
    discounts: { ...(add.length > 0 ? { add } : {}), ...(update.length > 0 ? { update } : {}) },
  }
}

/** Returns updates for the plan's own discounts, whose configured values ignore the tax. */
export function updatesOfPlan(
  { discounts }: Plan,
  taken: readonly number[],
  currency: string,
): braintree.DiscountUpdateRequest[] {
  return discounts.flatMap((each, at) =>
    taken[at] === amountOf(each, { currency })
      ? []
      : [{ existingId: each.id, amount: toDecimal(money(taken[at] ?? 0, currency)) }],
  )
}
