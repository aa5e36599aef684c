import { describe, expect, it } from 'vitest'
import { InvalidTaxPercentage } from '../errors/errors.ts'
import { addTax, formatTaxPercentage, parseTaxPercentage } from './tax.ts'

describe('tax percentages', () => {
  it.each([
    [0, 0, '0'],
    [19, 1900, '19'],
    [25.5, 2550, '25.5'],
    [7.75, 775, '7.75'],
    [0.05, 5, '0.05'],
    [100, 10_000, '100'],
  ])('can be %d percent', (value, points, text) => {
    expect(parseTaxPercentage(value)).toBe(points)
    expect(formatTaxPercentage(points)).toBe(text)
  })

  it.each([-1, 100.01, 101, 7.125, Number.NaN, '19', null, undefined, 1e-7])(
    'cannot be %s',
    (value) => {
      expect(() => parseTaxPercentage(value)).toThrow(InvalidTaxPercentage)
    },
  )

  it('are added to a price and removed from it, exactly to the cent', () => {
    expect(addTax(1000, 1925)).toBe(1193)
    expect(addTax(999, 775)).toBe(1076)
    expect(addTax(1000, 0)).toBe(1000)
  })
})
