import { describe, expect, it } from 'vitest'
import { chooseLeaseSize, type LeaseDemand } from './lease-size.ts'

const quiet: LeaseDemand = {
  remaining: 10_000,
  processes: 2,
  waiting: 1,
  previous: 0,
  usedUpIn: Number.POSITIVE_INFINITY,
}

describe('the number of units in the next lease of a quota', () => {
  it.each<[string, Partial<LeaseDemand>, number]>([
    ['is 1 at first', {}, 1],
    ['is the number of units that callers are waiting for', { waiting: 40 }, 40],
    [
      'doubles if the previous lease was used up within a second',
      { previous: 64, usedUpIn: 500 },
      128,
    ],
    [
      'stays the same if the previous lease lasted a few seconds',
      { previous: 64, usedUpIn: 5000 },
      64,
    ],
    ['halves if the previous lease lasted 20 seconds', { previous: 64, usedUpIn: 20_000 }, 32],
    [
      "is at most half of the process's fair share of the remaining units",
      { previous: 9000, usedUpIn: 10, remaining: 1000 },
      250,
    ],
    ['is 1 if only 3 units remain', { previous: 64, usedUpIn: 10, remaining: 3 }, 1],
    [
      'is 1 if only 1 unit remains, however many units callers are waiting for',
      { remaining: 1, waiting: 50 },
      1,
    ],
    [
      'is at most 1,000,000 if the meter has no quota',
      { remaining: Number.MAX_SAFE_INTEGER, previous: 900_000, usedUpIn: 1 },
      1_000_000,
    ],
  ])('%s', (_, changes, size) => {
    expect(chooseLeaseSize({ ...quiet, ...changes })).toBe(size)
  })

  it.each([
    [2, 45],
    [4, 80],
    [8, 150],
  ])(
    'lets %i busy processes use up a quota of 10,000 with fewer than %i leases',
    (processes, most) => {
      let remaining = 10_000
      let leases = 0
      const previous = Array.from({ length: processes }, () => 0)
      while (remaining > 0) {
        const at = leases % processes
        const size = chooseLeaseSize({
          remaining,
          processes,
          waiting: 25,
          previous: previous[at] ?? 0,
          usedUpIn: 100,
        })
        previous[at] = size
        remaining -= size
        leases += 1
      }
      expect(leases).toBeLessThan(most)
    },
  )
})
