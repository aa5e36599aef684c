import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatFixedPoint, multiplyFixedPoint, parseFixedPoint, UNITS_PER_ONE } from './decimals.ts'

it.each([
  ['0', 0n],
  ['7', 7n * UNITS_PER_ONE],
  ['-1.5', -1_500_000_000_000n],
  ['0.000000000001', 1n],
  ['123456789.25', 123_456_789_250_000_000_000n],
])('fixed-point numbers are converted from the decimal %s and back', (text, units) => {
  expect(parseFixedPoint(text)).toBe(units)
  expect(formatFixedPoint(units)).toBe(text)
})

it.each([
  ['3', '0.5', 2],
  ['1', '0.4', 0],
  ['1000', '0.0125', 13],
  ['2.5', '10', 25],
  ['0.1', '5', 1],
])(
  'fixed-point numbers are multiplied exactly: %s units of %s cents cost %i cents',
  (quantity, unit, cents) => {
    expect(multiplyFixedPoint(parseFixedPoint(quantity), unit)).toBe(cents)
  },
)

it('fixed-point numbers are converted to decimals and back without loss', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (units) => {
      expect(parseFixedPoint(formatFixedPoint(units))).toBe(units)
    }),
  )
})
