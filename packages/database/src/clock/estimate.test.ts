import { describe, expect, it } from 'vitest'
import { createClockEstimate } from './estimate.ts'

const OFFSET = 1_000_000

/**
 * Observes a response that was made after the share `there` of a round trip of `took` milliseconds.
 */
function read(
  estimate: ReturnType<typeof createClockEstimate>,
  at: number,
  took: number,
  there = 0.5,
) {
  estimate.observe(Math.floor(at + took * there + OFFSET), at, at + took)
}

const errorOf = (estimate: ReturnType<typeof createClockEstimate>) =>
  Math.abs(estimate.offset() - OFFSET)

describe("the estimate that a process makes of the database's clock", () => {
  it.each([0, 0.25, 1])(
    'is wrong by at most half a round trip, at whichever fraction of the round trip the database reads its clock (here: %d)',
    (there) => {
      const estimate = createClockEstimate()
      read(estimate, 500, 40, there)
      expect(errorOf(estimate)).toBeLessThanOrEqual(21)
    },
  )

  it('keeps the accuracy of a quick reading when slow readings follow', () => {
    const estimate = createClockEstimate()
    read(estimate, 0, 2)
    read(estimate, 250, 1400, 1)
    read(estimate, 2000, 900, 0)
    expect(errorOf(estimate)).toBeLessThan(6)
  })

  it('follows a database clock that runs faster than the local clock', () => {
    const estimate = createClockEstimate()
    for (let at = 0; at < 3_600_000; at += 5000) {
      estimate.observe(Math.floor(OFFSET + at * 1.0005), at, at + 2)
    }
    expect(Math.abs(estimate.offset() - (OFFSET + 3_595_000 * 0.0005))).toBeLessThan(10)
  })

  it.each([-3_600_000, 3_600_000, 50])(
    "follows a jump of the database's clock by %d ms immediately",
    (step) => {
      const estimate = createClockEstimate()
      read(estimate, 0, 2)
      estimate.observe(1000 + OFFSET + step, 999, 1001)
      expect(Math.abs(estimate.offset() - OFFSET - step)).toBeLessThan(4)
    },
  )
})
