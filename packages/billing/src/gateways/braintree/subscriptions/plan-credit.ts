import type braintree from 'braintree'
import { fromDecimal, proportion } from '../../../values/money.ts'
import { creditFor, type PaidTime } from '../../../values/paid/money-back.ts'
import { type Day, daysBetween } from '../sdk/days.ts'

/** What a subscription's value is counted from; amounts as Braintree writes them. */
export type ValuedSubscription = Pick<
  braintree.Subscription,
  | 'price'
  | 'balance'
  | 'status'
  | 'currentBillingCycle'
  | 'billingPeriodStartDate'
  | 'billingPeriodEndDate'
  | 'addOns'
  | 'discounts'
>

/** An add-on or a discount, of a subscription or of its plan. */
export type Modification = Pick<
  braintree.Discount,
  'id' | 'amount' | 'quantity' | 'numberOfBillingCycles' | 'neverExpires'
> & {
  readonly name?: string | null | undefined
  readonly currentBillingCycle?: number | null | undefined
}

export interface Terms {
  readonly today: Day
  readonly currency: string
  /** The discount that carries credit from swap to swap. */
  readonly planCredit: string
}

/**
 * What the customer has paid for and not used, in the smallest unit: the share of the running period
 * that is left (today is), credit that waits for later cycles, and a balance in the customer's favour.
 * Credit is the customer's own money, so a cycle paid with it counts in full; a coupon is not.
 */
export function unusedValue(
  subscription: ValuedSubscription,
  terms: Terms & {
    /** The money for the running period; null if none of it went back. */
    readonly paid: PaidTime | null
  },
): number {
  const unused = unusedPeriod(subscription, terms)
  const value =
    (terms.paid ? creditFor(unused, terms.paid) : unused) +
    waitingCredit(subscription, terms) -
    balanceOf(subscription, terms.currency)
  return Math.max(0, value)
}

/** What a charge that failed left owing. A swap collects it first. */
export function debtOf({ status, balance }: ValuedSubscription, currency: string): number {
  return status === 'Past Due' ? Math.max(0, toMinor(balance, currency)) : 0
}

/** The balance once what is past due is paid; negative is in the customer's favour. */
export function balanceOf(subscription: ValuedSubscription, currency: string): number {
  return toMinor(subscription.balance, currency) - debtOf(subscription, currency)
}

/** Days of the running period, and how many of them are left with today among them. */
export function daysOf(
  { billingPeriodStartDate: start, billingPeriodEndDate: end }: ValuedSubscription,
  today: Day,
): { readonly all: number; readonly left: number } {
  if (!start || !end) return { all: 0, left: 0 }
  const all = daysBetween(start, end) + 1
  return { all, left: Math.max(0, Math.min(daysBetween(today, end) + 1, all)) }
}

/** What the rest of the running period is worth. */
export function unusedPeriod(subscription: ValuedSubscription, terms: Terms): number {
  const { all, left } = daysOf(subscription, terms.today)
  return all === 0 ? 0 : proportion(cycleValue(subscription, terms), left, all)
}

/** Price and add-ons less coupons of the running cycle. */
export function cycleValue(
  subscription: ValuedSubscription,
  terms: Pick<Terms, 'currency' | 'planCredit'>,
): number {
  const { price, addOns = [], discounts = [], currentBillingCycle } = subscription
  const counts = (each: Modification) => countsIn(each, currentBillingCycle)
  const sum = (all: readonly Modification[]) =>
    all.filter(counts).reduce((total, each) => total + amountOf(each, terms), 0)
  const coupons = discounts.filter(({ id }) => id !== terms.planCredit)
  return Math.max(0, toMinor(price, terms.currency) + sum(addOns) - sum(coupons))
}

/** Credit of an earlier swap in cycles that have not come yet. */
export function waitingCredit(
  { discounts = [] }: ValuedSubscription,
  terms: Pick<Terms, 'currency' | 'planCredit'>,
): number {
  return discounts
    .filter(({ id }) => id === terms.planCredit)
    .reduce((total, each) => total + amountOf(each, terms) * cyclesLeft(each), 0)
}

/** Cycles a limited discount still has. */
export function cyclesLeft(each: Modification): number {
  const used = each.currentBillingCycle ?? 0
  return Math.max(0, (each.numberOfBillingCycles ?? 0) - used)
}

/** Whether the next cycle counts it. */
export function hasCyclesLeft(each: Modification): boolean {
  return Boolean(each.neverExpires) || cyclesLeft(each) > 0
}

/** Braintree says how often a discount was applied, not when: one in every cycle so far is in this one. */
export function countsIn(each: Modification, cycle: number): boolean {
  if (each.neverExpires) return true
  const used = each.currentBillingCycle ?? 0
  return used >= cycle || (used > 0 && cyclesLeft(each) > 0)
}

export function amountOf(each: Modification, { currency }: Pick<Terms, 'currency'>): number {
  return toMinor(each.amount, currency) * (each.quantity ?? 1)
}

export function toMinor(text: string | null | undefined, currency: string): number {
  return text ? fromDecimal(text, currency).amount : 0
}
