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
export function requireValidStart(requestedStartTerms: RequestedStart, now: Date): void {
  const { anchorAt, backdateTo, prorate = true, withoutCard = false } = requestedStartTerms
  if (anchorAt !== undefined) requireFuture('The anchor date', anchorAt, now)
  if (backdateTo !== undefined) requirePast('The backdated start', backdateTo, now)
  const trialEnd = endOfTrial(requestedStartTerms, now)
  if (trialEnd !== null && backdateTo !== undefined) {
    throw new InvalidArgument('A backdated subscription cannot have a trial')
  }
  if (trialEnd !== null && anchorAt !== undefined) {
    if (anchorAt < trialEnd) {
      throw new InvalidArgument('The anchor date must not be before the end of the trial')
    }
    if (!prorate) {
      throw new InvalidArgument(
        'A trial cannot be combined with anchorOn() and noProrate(): use trialUntil() alone, with the anchor date',
      )
    }
  }
  if (withoutCard && anchorAt !== undefined && !prorate) {
    throw new InvalidArgument(
      'withoutCard() cannot be combined with anchorOn() and noProrate(), because the invoice on that date needs a card: use trialUntil(), which ends the subscription if there is no card',
    )
  }
}

function endOfTrial({ trialDays, trialEndsAt }: RequestedStart, now: Date): Date | null {
  if (trialEndsAt !== undefined) return trialEndsAt
  return trialDays ? new Date(now.getTime() + trialDays * DAY) : null
}
