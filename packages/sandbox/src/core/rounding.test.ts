import fc from 'fast-check'
import { expect, it } from 'vitest'
import { multiplyFraction } from './rounding.ts'

it('multiplyFraction() rounds to the nearest cent, half a cent away from zero, and never returns more than the whole amount', () => {
  expect(multiplyFraction(1000, 20, 30)).toBe(667)
  expect(multiplyFraction(-3500, 20, 30)).toBe(-2333)
  expect(multiplyFraction(1, 1, 2)).toBe(1)
  expect(multiplyFraction(-1, 1, 2)).toBe(-1)
  fc.assert(
    fc.property(fc.integer(), fc.nat(366), (amount, part) => {
      expect(Math.abs(multiplyFraction(amount, part, 366))).toBeLessThanOrEqual(Math.abs(amount))
    }),
  )
})
