import { InvalidArgument } from '../errors.ts'
import type { StartTerms } from '../gateways/contract/subscription.ts'
import { requireFuture, requirePast } from './features/dates.ts'

/** How a subscription is to begin. */
export interface WantedStart extends StartTerms {
  readonly trialDays: number | null
  /** In place of days. */
  readonly trialEndsAt?: Date
  /** Whether it may begin without a card. */
  readonly withoutCard?: boolean
}

const DAY = 86_400_000

/** What goes together, or InvalidArgument before any call. What a period is only the provider knows. */
export function requireStart(wanted: WantedStart, now: Date): void {
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

function endOfTrial({ trialDays, trialEndsAt }: WantedStart, now: Date): Date | null {
  if (trialEndsAt !== undefined) return trialEndsAt
  return trialDays ? new Date(now.getTime() + trialDays * DAY) : null
}
