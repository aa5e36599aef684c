import type braintree from 'braintree'
import { proportion } from '../../../values/money.ts'
import {
  addDays,
  addMonths,
  type Day,
  daysBetween,
  monthsBetween,
  startOfDay,
} from '../sdk/days.ts'
import {
  amountOf,
  type Modification,
  type Terms,
  toMinor,
  type ValuedSubscription,
  waitingCredit,
} from './plan-credit.ts'

/** What the end of a subscription is counted from; amounts as Braintree writes them. */
export type EndingSubscription = ValuedSubscription &
  Pick<braintree.Subscription, 'nextBillingDate' | 'billingDayOfMonth'>

/** Where amounts are read: the currency, and the discount that carries credit. */
type Money = Pick<Terms, 'currency' | 'planCredit'>

const LONGEST = 240
const DAY_MS = 86_400_000

export interface CreditReach {
  /** Whole cycles after the running one that credit pays. */
  readonly cycles: number
  /** What is left of the credit then, and what one more cycle would cost. */
  readonly rest: number
  readonly price: number
}

/**
 * How far the customer's credit goes once nothing is charged any more: as many whole cycles as it pays.
 * A cycle that costs nothing is not one that was paid for, or a free one would go on for ever.
 */
export function reachOfCredit(
  subscription: EndingSubscription,
  money: Money,
  most = LONGEST,
): CreditReach {
  let rest = creditOf(subscription, money)
  for (let cycles = 0; ; cycles++) {
    const price = priceOfCycle(subscription, money, cycles)
    if (cycles >= most || price <= 0 || rest < price) return { cycles, rest, price }
    rest -= price
  }
}

/** The end of the cycle so many after the running one, and the days that the rest of the credit pays. */
export function endOfPaid(subscription: EndingSubscription, reach: CreditReach): Date | null {
  const tail = tailOf(subscription, reach)
  return tail && new Date(startOfDay(tail.start).getTime() + tail.days * DAY_MS)
}

/** What is left of that rest on a day within those days. */
export function unusedTail(subscription: EndingSubscription, money: Money, today: Day): number {
  const reach = reachOfCredit(subscription, money, 0)
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

/** Price and add-ons less coupons of the cycle that comes after so many others. */
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
