/** A calendar day, `2026-01-31`: Braintree bills by days. They have no zone; ours is UTC. */
export type Day = string

const DAY_MS = 86_400_000

export function startOfDay(day: Day): Date {
  return new Date(`${day}T00:00:00Z`)
}

/** Days from Braintree are inclusive, our ends are not: access lasts through the whole last day. */
export function endOfDay(day: Day): Date {
  return new Date(startOfDay(day).getTime() + DAY_MS)
}

export function dayOf(instant: Date): Day {
  return instant.toISOString().slice(0, 10)
}

/** Days from one day to another; 0 for the same day. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((startOfDay(to).getTime() - startOfDay(from).getTime()) / DAY_MS)
}
