import type { Clock } from '@tollgate/database'

export type { Clock }

/** The clock of a storage, shared by all processes that use it. */
export interface StoreClock extends Clock {
  /** Starts the clock. Called once the tables exist, before any other call. */
  begin(): Promise<void>
  /**
   * Calls `listener` with the reason when the clock is no longer trusted, and with `null` when it
   * is trusted again. Returns a function that removes the listener.
   */
  onChange(listener: (problem: string | null) => void): () => void
}

/**
 * Whether the clock is trusted. For work that can wait until it is; the clock itself reports the
 * reason.
 */
export async function isTrusted(clock: Clock): Promise<boolean> {
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
export const CLOCK_SKEW = 60_000

/** The clock of this machine. */
export const systemClock: Clock = { now: () => new Date() }

/**
 * Compares by number: `>` on two Dates is slower, because it first converts each object to a
 * primitive.
 */
export function isAfter(one: Date, other: Date): boolean {
  return one.getTime() > other.getTime()
}

export function later(one: Date, other: Date): Date {
  return isAfter(one, other) ? one : other
}
