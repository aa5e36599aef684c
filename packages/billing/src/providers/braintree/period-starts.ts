import type braintree from 'braintree'
import {
  addDays,
  addMonths,
  type CalendarDay,
  countMonthsBetween,
  toMonthlyBillingDay,
} from './days.ts'

/**
 * The fields of a Braintree subscription from which the starts of its billing periods are computed.
 */
export type BillingPeriodFields = Pick<
  braintree.Subscription,
  | 'billingPeriodStartDate'
  | 'billingPeriodEndDate'
  | 'billingDayOfMonth'
  | 'currentBillingCycle'
  | 'firstBillingDate'
>

/**
 * Returns the first days of all billing periods, oldest first, ending with the current one. Counts
 * back from the current period, because periods that are free or paid by credit have no
 * transaction. Braintree changes neither the frequency nor the billing day of a subscription; only
 * its first period may be shorter.
 */
export function listPeriodStarts(subscription: BillingPeriodFields): CalendarDay[] {
  const { billingPeriodStartDate: running, billingPeriodEndDate: last } = subscription
  const { currentBillingCycle: cycle, firstBillingDate: first } = subscription
  if (!running) return []
  if (!last || !first || cycle <= 1) return [running]
  const months = countMonthsBetween(running, addDays(last, 1))
  const anchor = subscription.billingDayOfMonth ?? toMonthlyBillingDay(first)
  const later = Array.from({ length: cycle - 1 }, (_, index) =>
    addMonths(running, -months * (cycle - 2 - index), anchor),
  )
  return [first, ...later]
}
