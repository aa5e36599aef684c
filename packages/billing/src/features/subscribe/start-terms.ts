import { InvalidArgument } from '../../core/errors/errors.ts'
import { requireFuture, requirePast } from '../../core/values/dates.ts'
import type { StartTerms } from '../../providers/subscription.ts'

/**
 * The requested start of a new subscription: trial, anchor date, backdating, and whether a card is
 * needed.
 */
export interface RequestedStart extends StartTerms {
  readonly trialDays: number | null
  /** Alternative to `trialDays`: the exact end of the trial. */
  readonly trialEndsAt?: Date
  /** Whether the subscription may start without a card. */
  readonly withoutCard?: boolean
}

const DAY = 86_400_000

/**
 * Checks that the start terms can be combined, before any request is sent. The provider checks
 * dates against the billing period, whose length only the provider knows.
 * @throws {InvalidArgument} for a combination or a date that is not possible.
 */
export function requireValidStart(wanted: RequestedStart, now: Date): void {
  const { anchorAt, backdateTo, prorate = true, withoutCard = false } = wanted
  if (anchorAt !== undefined) requireFuture('The first day of a whole period', anchorAt, now)
  if (backdateTo !== undefined) requirePast('The day that it began', backdateTo, now)
  const trialEnd = endOfTrial(wanted, now)
  if (trialEnd !== null && backdateTo !== undefined) {
    throw new InvalidArgument('What began in the past has no trial')
  }
  if (trialEnd !== null && anchorAt !== undefined) {
    if (anchorAt < trialEnd) {
      throw new InvalidArgument('The first whole period begins when the trial is over, or later')
    }
    if (!prorate) {
      throw new InvalidArgument('A trial up to the first whole period is trialUntil() alone')
    }
  }
  if (withoutCard && anchorAt !== undefined && !prorate) {
    throw new InvalidArgument(
      'Nothing can be billed on that day without a card: use trialUntil(), which ends without one',
    )
  }
}

function endOfTrial({ trialDays, trialEndsAt }: RequestedStart, now: Date): Date | null {
  if (trialEndsAt !== undefined) return trialEndsAt
  return trialDays ? new Date(now.getTime() + trialDays * DAY) : null
}
