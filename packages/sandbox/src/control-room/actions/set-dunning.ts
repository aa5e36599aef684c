import { AFTER_LAST_RETRY, setDunning } from '../../stripe/state/context.ts'
import type { ControlAction } from './action.ts'

/** Maximum number of payment retries that can be set. Stripe offers no more. */
export const MAX_DUNNING_RETRIES = 8
export const MAX_RETRY_DAYS = 60

/**
 * Handles the form for Stripe's dunning settings: when a failed payment is retried, and the status
 * of the subscription after the last retry.
 */
export const changeDunningSettings: ControlAction = (form, { stripe }) => {
  if (!stripe) throw new RangeError('Stripe was not started in this sandbox.')
  const retryAfterDays = readDays(form.get('days') ?? '')
  const wanted = form.get('after')
  const afterLastRetry = AFTER_LAST_RETRY.find((each) => each === wanted)
  if (!afterLastRetry) {
    const found = wanted ? `not ${wanted}` : 'but nothing was sent'
    throw new RangeError(`after: must be one of ${AFTER_LAST_RETRY.join(', ')}, ${found}`)
  }
  const dunning = { retryAfterDays, afterLastRetry }
  setDunning(stripe.context, dunning)
  return {
    message: 'Saved. The settings apply to retries that are not scheduled yet.',
    data: dunning,
  }
}

/** Parses a list such as `3, 5, 7`. An empty field means no retries. */
function readDays(text: string): number[] {
  const days = text.split(/[\s,]+/).filter((word) => word !== '')
  const isDay = (word: string) => /^[1-9]\d?$/.test(word) && Number(word) <= MAX_RETRY_DAYS
  if (days.length <= MAX_DUNNING_RETRIES && days.every(isDay)) return days.map(Number)
  throw new RangeError(
    `days: must be at most ${MAX_DUNNING_RETRIES} whole numbers from 1 to ${MAX_RETRY_DAYS} such as 3, 5, 7, not ${text}`,
  )
}
