import type { Clock } from '@tollgate/database'

export type { Clock }

/** The clock of a store, which all processes on it share. */
export interface StoreClock extends Clock {
  /** Called once the store has its tables, before anything else is asked of it. */
  begin(): Promise<void>
  /** Calls `listener` with the reason when the clock is no longer trusted, and with null when it is again. */
  onChange(listener: (problem: string | null) => void): () => void
}

/** Says whether a clock is trusted, for work that waits until it is. The clock itself tells why it is not. */
export async function isTrusted(clock: Clock): Promise<boolean> {
  try {
    await clock.check?.()
    return true
  } catch {
    return false
  }
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
