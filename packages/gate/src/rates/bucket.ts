import type { Rate } from '../plans/rule.ts'

/** Limits how fast each subject may be. */
export interface RateLimits {
  /**
   * Takes one call. Returns 0, or the milliseconds until the next call is allowed. Without a promise
   * if this process counts by itself.
   */
  take(subject: string, rate: Rate): number | Promise<number>
}

/** Rates that this process counts by itself. */
export interface LocalRates extends RateLimits {
  take(subject: string, rate: Rate): number
}

interface Bucket {
  tokens: number
  at: number
}

/** Largest number of subjects to remember. One that is forgotten starts with a full bucket. */
const MAX_SUBJECTS = 100_000

/**
 * Creates token buckets in memory: a subject may use the amount of its rate at once, and gets it
 * back evenly over the interval.
 */
export function createRateLimits(now: () => number = () => performance.now()): LocalRates {
  let young = new Map<string, Bucket>()
  let old = new Map<string, Bucket>()

  function find(subject: string, amount: number): Bucket {
    const found = young.get(subject)
    if (found) return found
    const bucket = old.get(subject) ?? { tokens: amount, at: now() }
    if (young.size >= MAX_SUBJECTS / 2) {
      old = young
      young = new Map()
    }
    young.set(subject, bucket)
    return bucket
  }

  return {
    take(subject, { amount, milliseconds }) {
      const bucket = find(subject, amount)
      const at = now()
      const perMillisecond = amount / milliseconds
      const tokens = Math.min(amount, bucket.tokens + (at - bucket.at) * perMillisecond)
      bucket.at = at
      bucket.tokens = tokens >= 1 ? tokens - 1 : tokens
      return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perMillisecond)
    },
  }
}
