/** Share by which two clocks may run apart: both machines may be slewing theirs. */
const DRIFT = 0.001
/** Databases round to milliseconds. */
const ROUNDING = 1

/** What is known of the database's clock by the monotonic clock of this process. */
export interface Estimate {
  /** Takes in what the database's clock said between `askedAt` and `answeredAt` of the monotonic clock. */
  observe(said: number, askedAt: number, answeredAt: number): void
  /** Milliseconds to add to the monotonic clock. */
  offset(): number
}

/**
 * Every reading says that the offset lies in an interval as long as its round trip. What all of them have in common is
 * the estimate, so that one slow reading harms nothing. A reading that has nothing in common with those before shows
 * that one of the clocks stepped, or that the machine was suspended: then it counts alone.
 */
export function createEstimate(): Estimate {
  let low = Number.NEGATIVE_INFINITY
  let high = Number.POSITIVE_INFINITY
  let readAt = 0
  return {
    observe(said, askedAt, answeredAt) {
      const drift = Math.max(0, answeredAt - readAt) * DRIFT
      const least = said - answeredAt - ROUNDING
      const most = said - askedAt + ROUNDING
      low = Math.max(low - drift, least)
      high = Math.min(high + drift, most)
      if (low > high) [low, high] = [least, most]
      readAt = answeredAt
    },
    offset: () => (low + high) / 2,
  }
}
