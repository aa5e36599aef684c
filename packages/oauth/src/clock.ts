import type { Clock } from '@tollgate/database'

export type { Clock }

/** The clock of a storage, such as that of the database. All processes on the storage share it. */
export interface StoreClock extends Clock {
  /**
   * Starts the clock. Called once, after the tables exist and before any other method of the clock.
   */
  begin(): Promise<void>
  /**
   * Calls `listener` with the reason when the clock is no longer trusted, and with `null` when it
   * is trusted again. Returns a function that removes the listener.
   */
  onChange(listener: (problem: string | null) => void): () => void
}

/**
 * Whether the clock of this process is trusted to be right. Used to postpone work that can wait;
 * the clock itself reports why it is not trusted.
 */
export async function isClockTrusted(clock: Clock): Promise<boolean> {
  try {
    await clock.check?.()
    return true
  } catch {
    return false
  }
}

/**
 * Largest tolerated difference between the clocks of two processes of this server, in milliseconds.
 */
export const CLOCK_SKEW_MS = 60_000

/** The clock of this machine. */
export const systemClock: Clock = { now: () => new Date() }

/**
 * Whether `one` is later than `other`. Compares timestamps as numbers, because `>` on two `Date`
 * objects is slower.
 */
export function isAfter(one: Date, other: Date): boolean {
  return one.getTime() > other.getTime()
}

export function findLaterDate(one: Date, other: Date): Date {
  return isAfter(one, other) ? one : other
}
