import type braintree from 'braintree'
import { calculateProportion } from '../../core/values/money.ts'
import {
  addDays,
  addMonths,
  type CalendarDay,
  countDaysBetween,
  countMonthsBetween,
  startOfDay,
} from './days.ts'
import {
  type AddOnOrDiscount,
  type CreditTerms,
  findReservedCredit,
  getModificationAmount,
  type SubscriptionValueFields,
  toMinorUnits,
} from './plan-credit.ts'

/** The fields of a Braintree subscription from which the end of its paid time is computed. */
export type SubscriptionEndFields = SubscriptionValueFields &
  Pick<braintree.Subscription, 'nextBillingDate' | 'billingDayOfMonth'>

/** How to read amounts: the currency, and the discount that carries credit. */
type CreditCurrency = Pick<CreditTerms, 'currency' | 'planCredit'>

const MAX_CYCLES = 240
const DAY_MS = 86_400_000

export interface CreditDuration {
  /** Number of whole cycles after the current one that the credit pays for. */
  readonly cycles: number
  /**
   * Credit that remains after the whole cycles, and is less than `price`, the price of one more
   * cycle.
   */
  readonly rest: number
  readonly price: number
}

/**
 * Computes how many whole cycles the customer's credit pays for once nothing is charged any more.
 * Stops at a free cycle, because the credit would last for any number of free cycles.
 */
export function computeCreditDuration(
  subscription: SubscriptionEndFields,
  money: CreditCurrency,
  maxCycles = MAX_CYCLES,
): CreditDuration {
  let rest = computeAvailableCredit(subscription, money)
  for (let cycles = 0; ; cycles++) {
    const price = priceOfCycle(subscription, money, cycles)
    if (cycles >= maxCycles || price <= 0 || rest < price) return { cycles, rest, price }
    rest -= price
  }
}

/**
 * Returns when the paid time ends: after the whole cycles, plus the days that the remaining credit
 * pays for.
 */
export function computePaidTimeEnd(
  subscription: SubscriptionEndFields,
  creditDuration: CreditDuration,
): Date | null {
  const tail = computePartialCycle(subscription, creditDuration)
  return tail && new Date(startOfDay(tail.start).getTime() + tail.days * DAY_MS)
}

/**
 * Returns how much of the remaining credit, which pays for the days after the whole cycles, is
 * still unused on the day `today`.
 */
export function computeUnusedCreditRemainder(
  subscription: SubscriptionEndFields,
  money: CreditCurrency,
  today: CalendarDay,
): number {
  const reach = computeCreditDuration(subscription, money, 0)
  const tail = computePartialCycle(subscription, reach)
  if (!tail || tail.days === 0) return 0
  const used = Math.min(tail.days, Math.max(0, countDaysBetween(tail.start, today)))
  return calculateProportion(reach.rest, tail.days - used, tail.days)
}

function computePartialCycle(
  subscription: SubscriptionEndFields,
  { cycles, rest, price }: CreditDuration,
): { readonly start: CalendarDay; readonly days: number } | null {
  const { billingPeriodStartDate: began, billingPeriodEndDate: last } = subscription
  if (!began || !last) return null
  const next = addDays(last, 1)
  const months = countMonthsBetween(began, next)
  const anchor = subscription.billingDayOfMonth ?? Number(next.slice(8))
  const start = addMonths(next, months * cycles, anchor)
  const length = countDaysBetween(start, addMonths(next, months * (cycles + 1), anchor))
  return { start, days: price > 0 ? Math.ceil((rest * length) / price) : 0 }
}

function computeAvailableCredit(
  subscription: SubscriptionEndFields,
  money: CreditCurrency,
): number {
  const waiting = findReservedCredit(subscription, money)
  return Math.max(0, waiting - toMinorUnits(subscription.balance, money.currency))
}

/** Returns the price of a future cycle: price and add-ons less coupons. */
function priceOfCycle(
  { price, addOns = [], discounts = [] }: SubscriptionEndFields,
  money: CreditCurrency,
  after: number,
): number {
  const counts = (each: AddOnOrDiscount) =>
    each.neverExpires || (each.currentBillingCycle ?? 0) + after < (each.numberOfBillingCycles ?? 0)
  const sum = (all: readonly AddOnOrDiscount[]) =>
    all.filter(counts).reduce((total, each) => total + getModificationAmount(each, money), 0)
  const coupons = discounts.filter(({ id }) => id !== money.planCredit)
  return toMinorUnits(price, money.currency) + sum(addOns) - sum(coupons)
}
