import type braintree from 'braintree'
import { calculateProportion, fromDecimal } from '../../core/values/money.ts'
import { computeUnusedTimeCredit, type PaidTime } from '../../core/values/money-back.ts'
import { type CalendarDay, countDaysBetween } from './days.ts'

/** The fields of a Braintree subscription from which its unused value is computed. */
export type SubscriptionValueFields = Pick<
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
export type AddOnOrDiscount = Pick<
  braintree.Discount,
  'id' | 'amount' | 'quantity' | 'numberOfBillingCycles' | 'neverExpires'
> & {
  readonly name?: string | null | undefined
  readonly currentBillingCycle?: number | null | undefined
}

export interface CreditTerms {
  readonly today: CalendarDay
  readonly currency: string
  /**
   * Id of the discount that holds the credit for unused time after a swap to another billing
   * frequency.
   */
  readonly planCredit: string
}

/**
 * Returns the value that the customer has paid for but not used, in the currency's smallest unit:
 * the remaining share of the current period (including today), credit for later cycles, and a
 * balance in the customer's favour. Cycles paid with credit count in full, because credit is the
 * customer's own money; coupons do not count.
 */
export function computeUnusedValue(
  subscription: SubscriptionValueFields,
  terms: CreditTerms & {
    /** The money paid for the current period. `null` if none of it was returned. */
    readonly paid: PaidTime | null
  },
): number {
  const unused = computeUnusedPeriodValue(subscription, terms)
  const value =
    (terms.paid ? computeUnusedTimeCredit(unused, terms.paid) : unused) +
    findReservedCredit(subscription, terms) -
    getBalanceWithoutDebt(subscription, terms.currency)
  return Math.max(0, value)
}

/**
 * Returns the amount that the customer owes after a failed charge. A swap collects this amount
 * first.
 */
export function getSubscriptionDebt(
  { status, balance }: SubscriptionValueFields,
  currency: string,
): number {
  return status === 'Past Due' ? Math.max(0, toMinorUnits(balance, currency)) : 0
}

/**
 * Returns the balance that remains once past due amounts are paid. Negative amounts are in the
 * customer's favour.
 */
export function getBalanceWithoutDebt(
  subscription: SubscriptionValueFields,
  currency: string,
): number {
  return toMinorUnits(subscription.balance, currency) - getSubscriptionDebt(subscription, currency)
}

/** Counts the days of the current period, and those left including today. */
export function countPeriodDays(
  { billingPeriodStartDate: start, billingPeriodEndDate: end }: SubscriptionValueFields,
  today: CalendarDay,
): { readonly all: number; readonly left: number } {
  if (!start || !end) return { all: 0, left: 0 }
  const all = countDaysBetween(start, end) + 1
  return { all, left: Math.max(0, Math.min(countDaysBetween(today, end) + 1, all)) }
}

/** Returns the value of the unused days of the current period. */
export function computeUnusedPeriodValue(
  subscription: SubscriptionValueFields,
  terms: CreditTerms,
): number {
  const { all, left } = countPeriodDays(subscription, terms.today)
  return all === 0 ? 0 : calculateProportion(computeCyclePrice(subscription, terms), left, all)
}

/** Returns the price of the current cycle: price and add-ons less coupons. */
export function computeCyclePrice(
  subscription: SubscriptionValueFields,
  terms: Pick<CreditTerms, 'currency' | 'planCredit'>,
): number {
  const { price, addOns = [], discounts = [], currentBillingCycle } = subscription
  const counts = (each: AddOnOrDiscount) => appliesInCycle(each, currentBillingCycle)
  const sum = (all: readonly AddOnOrDiscount[]) =>
    all.filter(counts).reduce((total, each) => total + getModificationAmount(each, terms), 0)
  const coupons = discounts.filter(({ id }) => id !== terms.planCredit)
  return Math.max(0, toMinorUnits(price, terms.currency) + sum(addOns) - sum(coupons))
}

/** Returns the credit of an earlier swap that is reserved for later cycles. */
export function findReservedCredit(
  { discounts = [] }: SubscriptionValueFields,
  terms: Pick<CreditTerms, 'currency' | 'planCredit'>,
): number {
  return discounts
    .filter(({ id }) => id === terms.planCredit)
    .reduce((total, each) => total + getModificationAmount(each, terms) * countCyclesLeft(each), 0)
}

/** Returns the number of cycles for which a limited add-on or discount still applies. */
export function countCyclesLeft(each: AddOnOrDiscount): number {
  const used = each.currentBillingCycle ?? 0
  return Math.max(0, (each.numberOfBillingCycles ?? 0) - used)
}

/** Whether an add-on or discount applies in the next cycle. */
export function hasCyclesLeft(each: AddOnOrDiscount): boolean {
  return Boolean(each.neverExpires) || countCyclesLeft(each) > 0
}

/**
 * Whether an add-on or discount applies in the current cycle. Braintree reports only how often it
 * was applied, not when. If it was applied in every cycle so far, it also applies in the current
 * one.
 */
export function appliesInCycle(each: AddOnOrDiscount, cycle: number): boolean {
  if (each.neverExpires) return true
  const used = each.currentBillingCycle ?? 0
  return used >= cycle || (used > 0 && countCyclesLeft(each) > 0)
}

export function getModificationAmount(
  each: AddOnOrDiscount,
  { currency }: Pick<CreditTerms, 'currency'>,
): number {
  return toMinorUnits(each.amount, currency) * (each.quantity ?? 1)
}

export function toMinorUnits(text: string | null | undefined, currency: string): number {
  return text ? fromDecimal(text, currency).amount : 0
}
