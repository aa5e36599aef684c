import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromUnits, multiplyUnits, ONE, toUnits } from './decimals.ts'

it.each([
  ['0', 0n],
  ['7', 7n * ONE],
  ['-1.5', -1_500_000_000_000n],
  ['0.000000000001', 1n],
  ['123456789.25', 123_456_789_250_000_000_000n],
])('reads and writes %s', (text, units) => {
  expect(toUnits(text)).toBe(units)
  expect(fromUnits(units)).toBe(text)
})

it.each([
  ['3', '0.5', 2],
  ['1', '0.4', 0],
  ['1000', '0.0125', 13],
  ['2.5', '10', 25],
  ['0.1', '5', 1],
])('%s at %s cents are %i cents', (quantity, unit, cents) => {
  expect(multiplyUnits(toUnits(quantity), unit)).toBe(cents)
})

it('loses nothing on the way', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (units) => {
      expect(toUnits(fromUnits(units))).toBe(units)
    }),
  )
})
