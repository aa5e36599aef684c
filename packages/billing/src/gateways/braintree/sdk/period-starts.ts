import type braintree from 'braintree'
import { addDays, addMonths, anchorOf, type Day, monthsBetween } from './days.ts'

/** What of a subscription says when its periods began. */
export type BilledByCycle = Pick<
  braintree.Subscription,
  | 'billingPeriodStartDate'
  | 'billingPeriodEndDate'
  | 'billingDayOfMonth'
  | 'currentBillingCycle'
  | 'firstBillingDate'
>

/**
 * The first days of all periods, oldest first: the last one runs. Counted back from that one, because a period that costs
 * nothing, or that credit pays, leaves no transaction. Braintree changes neither the frequency nor the day of a
 * subscription; only its first period may be shorter.
 */
export function periodStarts(subscription: BilledByCycle): Day[] {
  const { billingPeriodStartDate: running, billingPeriodEndDate: last } = subscription
  const { currentBillingCycle: cycle, firstBillingDate: first } = subscription
  if (!running) return []
  if (!last || !first || cycle <= 1) return [running]
  const months = monthsBetween(running, addDays(last, 1))
  const anchor = subscription.billingDayOfMonth ?? anchorOf(first)
  const later = Array.from({ length: cycle - 1 }, (_, index) =>
    addMonths(running, -months * (cycle - 2 - index), anchor),
  )
  return [first, ...later]
}
