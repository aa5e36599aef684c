/** Where "now" comes from; tests pass a movable one. */
export interface Clock {
  /** The present moment. */
  now(): Date
}

/** The clock of this machine. */
export const systemClock: Clock = { now: () => new Date() }
