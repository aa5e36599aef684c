import type Stripe from 'stripe'
import { InvalidArgument } from '../../../../errors.ts'
import { toDate } from '../../sdk/client.ts'

interface Period {
  readonly from: Date
  readonly to: Date
}

/**
 * Stripe takes a moment of the running period only. A clock of ours that is seconds behind would name one before a
 * subscription that has just begun.
 */
export function withinPeriod(current: Stripe.Subscription, at: Date): Date {
  const { from, to } = periodOf(current)
  return at < from ? from : at > to ? to : at
}

/** The moment of a preview, which may be of the period before. */
export function requireWithinPeriod(current: Stripe.Subscription, date: Date): Date {
  const { from, to } = periodOf(current)
  if (withinPeriod(current, date).getTime() === date.getTime()) return date
  throw new InvalidArgument(
    `The preview is of ${date.toISOString()}, and the running period is from ${from.toISOString()} to ${to.toISOString()}: ask for another one`,
  )
}

function periodOf({ items }: Stripe.Subscription): Period {
  return {
    from: toDate(Math.min(...items.data.map((item) => item.current_period_start))),
    to: toDate(Math.max(...items.data.map((item) => item.current_period_end))),
  }
}
