import type { Clock } from '../clock.ts'
import { parseSeconds } from '../lifetimes.ts'

/** A clock for tests that moves only on request. */
export interface MovableClock extends Clock {
  /**
   * Moves the clock forward by a number of seconds or a duration such as `'15d'` or `'90s'`.
   * @throws TypeError if the duration is not positive
   */
  advance(by: string | number): void
  /** Sets the clock to this time. */
  set(to: Date): void
}

/**
 * Creates a clock for tests that moves only on request.
 * @example
 * ```ts
 * const clock = movableClock()
 * const oauth = createAuthorizationServer({ ...options, storage: memoryStorage(), clock })
 * clock.advance('366d')
 * ```
 */
export function movableClock(start: Date = new Date('2026-01-01T00:00:00Z')): MovableClock {
  let now = start.getTime()
  return {
    now: () => new Date(now),
    advance(by) {
      now += parseSeconds('advance', by) * 1000
    },
    set(to) {
      now = to.getTime()
    },
  }
}
