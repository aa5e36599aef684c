/** Where "now" comes from; tests pass a movable one. */
export interface Clock {
  /** The present moment. */
  now(): Date
}

/** How far, in milliseconds, the clocks of two of our processes may be apart. */
export const CLOCK_SKEW = 60_000

/** The clock of this machine. */
export const systemClock: Clock = { now: () => new Date() }

/** By their numbers: `>` has to ask both Dates first how they want to be compared. */
export function isAfter(one: Date, other: Date): boolean {
  return one.getTime() > other.getTime()
}

export function later(one: Date, other: Date): Date {
  return isAfter(one, other) ? one : other
}
