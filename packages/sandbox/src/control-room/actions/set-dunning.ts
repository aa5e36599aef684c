import { AFTER_LAST_RETRY, setDunning } from '../../stripe/state/context.ts'
import type { Action } from './action.ts'

/** More than that Stripe never tries. */
export const MOST_RETRIES = 8
export const LONGEST_DAYS = 60

/** How often Stripe tries a failed payment again, and what becomes of the subscription then. */
export const changeDunning: Action = (form, { stripe }) => {
  if (!stripe) throw new RangeError('Stripe was not started in this sandbox.')
  const retryAfterDays = readDays(form.get('days') ?? '')
  const wanted = form.get('after')
  const afterLastRetry = AFTER_LAST_RETRY.find((each) => each === wanted)
  if (!afterLastRetry) {
    const found = wanted ? `and not ${wanted}` : 'which is missing'
    throw new RangeError(`after: one of ${AFTER_LAST_RETRY.join(', ')}, ${found}`)
  }
  const dunning = { retryAfterDays, afterLastRetry }
  setDunning(stripe.context, dunning)
  return { said: 'Set, for retries that are not planned yet.', data: dunning }
}

/** `3, 5, 7`; nothing at all means that nothing is tried again. */
function readDays(text: string): number[] {
  const days = text.split(/[\s,]+/).filter((word) => word !== '')
  const isDay = (word: string) => /^[1-9]\d?$/.test(word) && Number(word) <= LONGEST_DAYS
  if (days.length <= MOST_RETRIES && days.every(isDay)) return days.map(Number)
  throw new RangeError(
    `days: at most ${MOST_RETRIES} whole numbers from 1 to ${LONGEST_DAYS} such as 3, 5, 7, and not ${text}`,
  )
}
