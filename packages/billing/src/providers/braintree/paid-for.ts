import type braintree from 'braintree'
import { proportion } from '../../core/values/money.ts'
import { addDays, addMonths, type Day, daysBetween, monthsBetween, startOfDay } from './days.ts'
import {
  amountOf,
  type Modification,
  type Terms,
  toMinor,
  type ValuedSubscription,
  waitingCredit,
} from './plan-credit.ts'

/** The values that the end of a subscription is computed from, in Braintree's format. */
export type EndingSubscription = ValuedSubscription &
  Pick<braintree.Subscription, 'nextBillingDate' | 'billingDayOfMonth'>

/** How to read amounts: the currency, and the discount that carries credit. */
type Money = Pick<Terms, 'currency' | 'planCredit'>

const MAX_CYCLES = 240
const DAY_MS = 86_400_000

export interface CreditReach {
  /** Number of whole cycles after the current one that the credit pays for. */
  readonly cycles: number
  /** The remaining credit, and the price of one more cycle. */
  readonly rest: number
  readonly price: number
}

/**
 * Computes how many whole cycles the customer's credit pays for once nothing is charged any more.
 * Stops at a free cycle, which would otherwise repeat for ever.
 */
export function computeCreditReach(
  subscription: EndingSubscription,
  money: Money,
  maxCycles = MAX_CYCLES,
): CreditReach {
  let rest = creditOf(subscription, money)
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
export function endOfPaidTime(subscription: EndingSubscription, reach: CreditReach): Date | null {
  const tail = tailOf(subscription, reach)
  return tail && new Date(startOfDay(tail.start).getTime() + tail.days * DAY_MS)
}

/**
 * Returns how much of the remaining credit, which pays for the days after the whole cycles, is
 * unused on one of those days.
 */
export function unusedRest(subscription: EndingSubscription, money: Money, today: Day): number {
  const reach = computeCreditReach(subscription, money, 0)
  const tail = tailOf(subscription, reach)
  if (!tail || tail.days === 0) return 0
  const used = Math.min(tail.days, Math.max(0, daysBetween(tail.start, today)))
  return proportion(reach.rest, tail.days - used, tail.days)
}

function tailOf(
  subscription: EndingSubscription,
  { cycles, rest, price }: CreditReach,
): { readonly start: Day; readonly days: number } | null {
  const { billingPeriodStartDate: began, billingPeriodEndDate: last } = subscription
  if (!began || !last) return null
  const next = addDays(last, 1)
  const months = monthsBetween(began, next)
  const anchor = subscription.billingDayOfMonth ?? Number(next.slice(8))
  const start = addMonths(next, months * cycles, anchor)
  const length = daysBetween(start, addMonths(next, months * (cycles + 1), anchor))
  return { start, days: price > 0 ? Math.ceil((rest * length) / price) : 0 }
}

function creditOf(subscription: EndingSubscription, money: Money): number {
  const waiting = waitingCredit(subscription, money)
  return Math.max(0, waiting - toMinor(subscription.balance, money.currency))
}

/** Returns the price of a future cycle: price and add-ons less coupons. */
function priceOfCycle(
  { price, addOns = [], discounts = [] }: EndingSubscription,
  money: Money,
  after: number,
): number {
  const counts = (each: Modification) =>
    each.neverExpires || (each.currentBillingCycle ?? 0) + after < (each.numberOfBillingCycles ?? 0)
  const sum = (all: readonly Modification[]) =>
    all.filter(counts).reduce((total, each) => total + amountOf(each, money), 0)
  const coupons = discounts.filter(({ id }) => id !== money.planCredit)
  return toMinor(price, money.currency) + sum(addOns) - sum(coupons)
}
