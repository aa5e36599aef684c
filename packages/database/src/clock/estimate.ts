/** Largest relative drift between two clocks: both machines may be slewing theirs. */
const DRIFT = 0.001
/** Milliseconds of rounding error in a database's time. */
const ROUNDING = 1

/** Estimates the database's clock from the monotonic clock of this process. */
export interface ClockEstimate {
  /**
   * Adds a reading: the database returned the time `databaseTime` between `askedAt` and `answeredAt` on the
   * monotonic clock.
   */
  observe(databaseTime: number, askedAt: number, answeredAt: number): void
  /** Milliseconds to add to the monotonic clock to get the database's time. */
  offset(): number
}

/**
 * Creates an estimate of the database's clock. Each reading shows an interval that must contain the
 * offset, as long as the round trip of the reading. The estimate is the intersection of all
 * intervals, so that one slow reading does no harm. A reading whose interval lies outside the
 * intersection shows that one of the clocks was set, or that the machine was suspended: the
 * estimate then starts anew from that reading.
 */
export function createClockEstimate(): ClockEstimate {
  let low = Number.NEGATIVE_INFINITY
  let high = Number.POSITIVE_INFINITY
  let readAt = 0
  return {
    observe(databaseTime, askedAt, answeredAt) {
      const drift = Math.max(0, answeredAt - readAt) * DRIFT
      const least = databaseTime - answeredAt - ROUNDING
      const most = databaseTime - askedAt + ROUNDING
      low = Math.max(low - drift, least)
      high = Math.min(high + drift, most)
      if (low > high) [low, high] = [least, most]
      readAt = answeredAt
    },
    offset: () => (low + high) / 2,
  }
}
