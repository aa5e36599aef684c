import { addDuration, type Duration } from '@tollgate/http'
import type { Clock } from '../context.ts'

/** A clock for tests that moves only on request. */
export interface MovableClock extends Clock {
  /**
   * Moves the clock forward by a duration, such as `{ months: 1 }`.
   * @throws {TypeError} If a unit does not exist, or its number is not whole.
   * @throws {RangeError} If the duration is negative.
   */
  advance(by: Duration): void
  /** Sets the clock to this time. */
  set(to: Date): void
}

/**
 * Creates a clock for tests that moves only on request. `movableClock()` of `@tollgate/oauth/testing`
 * and the clock of the sandbox work as well.
 * @example
 * const clock = movableClock()
 * const gate = createGate({ ...options, clock })
 * clock.advance({ months: 1 })
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
