import { describe, expect, it } from 'vitest'
import {
  type ClockComparison,
  classifyClockJump,
  TIME_RECORD_STALE_AFTER_MS,
} from './recorded-time.ts'

const MINUTE = 60_000
const FILE: ClockComparison = {
  ahead: 15 * MINUTE,
  maxSkew: MINUTE,
  hasOwnClock: false,
  hasOthers: true,
  hasSeenOthers: false,
  quietFor: 0,
}

describe('classifyClockJump(), which compares the current time with the newest recorded time [threat Q5],', () => {
  it.each<[string, Partial<ClockComparison>, ReturnType<typeof classifyClockJump>]>([
    ['another process may be open', {}, 'wrong'],
    ['another process records its time', { quietFor: TIME_RECORD_STALE_AFTER_MS - 1 }, 'wrong'],
    [
      'every other process was killed a while ago',
      { quietFor: TIME_RECORD_STALE_AFTER_MS },
      'pause',
    ],
    ['no process is open', { hasOthers: false }, 'pause'],
    [
      'other processes recorded an earlier time and then ended',
      { hasSeenOthers: true, quietFor: TIME_RECORD_STALE_AFTER_MS },
      'wrong',
    ],
    ['the clock was wrong and is right again', { hasSeenOthers: true, ahead: 0 }, 'none'],
    ['the two times differ by the allowed skew', { ahead: MINUTE }, 'none'],
    [
      'the two times differ by a millisecond more than the allowed skew',
      { ahead: MINUTE + 1 },
      'wrong',
    ],
    ['the recorded time is later', { ahead: -400 * MINUTE }, 'none'],
    ['the database has its own clock', { hasOwnClock: true }, 'none'],
  ])('returns the right result if %s', (_, change, verdict) => {
    expect(classifyClockJump({ ...FILE, ...change })).toBe(verdict)
  })
})
