/** Where "now" comes from; tests pass a movable one. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
