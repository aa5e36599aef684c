import type { Clock } from '../clock.ts'
import { parseSeconds } from '../lifetimes.ts'

/** A clock that stands still until a test moves it. */
export interface MovableClock extends Clock {
  /** `'15d'`, `'90s'` or seconds. */
  advance(by: string | number): void
  /** Moves it to this moment. */
  set(to: Date): void
}

/** A clock that stands still until a test moves it. */
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
