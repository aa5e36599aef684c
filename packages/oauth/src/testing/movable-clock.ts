import { addDuration, type Duration } from '@tollgate/http'
import type { Clock } from '../clock.ts'

/** A clock for tests that moves only on request. */
export interface MovableClock extends Clock {
  /**
   * Moves the clock forward by a duration, such as `{ days: 15 }`.
   * @throws {TypeError} If a unit does not exist, or its number is not whole.
   * @throws {RangeError} If the duration is negative.
   */
  advance(by: Duration): void
  /** Sets the clock to this time. */
  set(to: Date): void
}

/**
 * Creates a clock for tests that moves only on request.
 * @example
 * ```ts
 * const clock = movableClock()
 * const oauth = createAuthorizationServer({ ...options, storage: memoryStorage(), clock })
 * clock.advance({ days: 366 })
 * ```
 */
export function movableClock(start: Date = new Date('2026-01-01T00:00:00Z')): MovableClock {
  let now = start.getTime()
  return {
    now: () => new Date(now),
    advance(by) {
      const target = addDuration(new Date(now), by).getTime()
      if (target < now) throw new RangeError('The clock can only move forward')
      now = target
    },
    set(to) {
      now = to.getTime()
    },
  }
}
