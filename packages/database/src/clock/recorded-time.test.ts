import { describe, expect, it } from 'vitest'
import { type Distance, judgeJump, QUIET } from './recorded-time.ts'

const MINUTE = 60_000
const FILE: Distance = {
  ahead: 15 * MINUTE,
  maxSkew: MINUTE,
  hasOwnClock: false,
  hasOthers: true,
  hasSeenOthers: false,
  quietFor: 0,
}

describe('threat Q5 a time that is later than the newest recorded one', () => {
  it.each<[string, Partial<Distance>, ReturnType<typeof judgeJump>]>([
    ['another process may be open', {}, 'wrong'],
    ['another process records its time', { quietFor: QUIET - 1 }, 'wrong'],
    ['every other process was killed', { quietFor: QUIET }, 'pause'],
    ['no process is open', { hasOthers: false }, 'pause'],
    ['others recorded their time and are gone', { hasSeenOthers: true, quietFor: QUIET }, 'wrong'],
    ['the clock was wrong and is right again', { hasSeenOthers: true, ahead: 0 }, 'none'],
    ['they are within the allowed skew', { ahead: MINUTE }, 'none'],
    ['they are a moment beyond the allowed skew', { ahead: MINUTE + 1 }, 'wrong'],
    ['the recorded time is later', { ahead: -400 * MINUTE }, 'none'],
    ['the database has its own clock', { hasOwnClock: true }, 'none'],
  ])('gets the right verdict when %s', (_, change, verdict) => {
    expect(judgeJump({ ...FILE, ...change })).toBe(verdict)
  })
})
