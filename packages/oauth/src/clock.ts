/** Where "now" comes from; tests pass a movable one. */
export interface Clock {
  now(): Date
}

/** How far, in milliseconds, the clocks of two of our processes may be apart. */
export const CLOCK_SKEW = 60_000

export const systemClock: Clock = { now: () => new Date() }
