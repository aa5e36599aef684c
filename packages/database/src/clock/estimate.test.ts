import { describe, expect, it } from 'vitest'
import { createEstimate } from './estimate.ts'

const OFFSET = 1_000_000

/** A reading whose answer was made after `there` of `took` milliseconds. */
function read(estimate: ReturnType<typeof createEstimate>, at: number, took: number, there = 0.5) {
  estimate.observe(Math.floor(at + took * there + OFFSET), at, at + took)
}

const errorOf = (estimate: ReturnType<typeof createEstimate>) =>
  Math.abs(estimate.offset() - OFFSET)

describe('the estimate of the database clock', () => {
  it.each([0, 0.25, 1])(
    'is off by at most half a round trip, with %d of it before the answer',
    (there) => {
      const estimate = createEstimate()
      read(estimate, 500, 40, there)
      expect(errorOf(estimate)).toBeLessThanOrEqual(21)
    },
  )

  it('keeps what a quick reading showed when a slow one follows', () => {
    const estimate = createEstimate()
    read(estimate, 0, 2)
    read(estimate, 250, 1400, 1)
    read(estimate, 2000, 900, 0)
    expect(errorOf(estimate)).toBeLessThan(6)
  })

  it('follows a clock that runs faster', () => {
    const estimate = createEstimate()
    for (let at = 0; at < 3_600_000; at += 5000) {
      estimate.observe(Math.floor(OFFSET + at * 1.0005), at, at + 2)
    }
    expect(Math.abs(estimate.offset() - (OFFSET + 3_595_000 * 0.0005))).toBeLessThan(10)
  })

  it.each([-3_600_000, 3_600_000, 50])('takes a step of the clock by %d ms at once', (step) => {
    const estimate = createEstimate()
    read(estimate, 0, 2)
    estimate.observe(1000 + OFFSET + step, 999, 1001)
    expect(Math.abs(estimate.offset() - OFFSET - step)).toBeLessThan(4)
  })
})
