import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatAmount, parseAmount } from './money.ts'

it.each([
  ['10', 'USD', 1000],
  ['10.5', 'USD', 1050],
  [12.34, 'USD', 1234],
  ['0', 'USD', 0],
  ['-0.00', 'USD', 0],
  ['-0.01', 'USD', 'negative'],
  ['1.005', 'USD', 'invalid'],
  ['1e3', 'USD', 'invalid'],
  ['.5', 'USD', 'invalid'],
  ['1,00', 'USD', 'invalid'],
  ['', 'USD', 'invalid'],
  [Number.NaN, 'USD', 'invalid'],
  [null, 'USD', 'invalid'],
  ['10000000000', 'USD', 'too-large'],
  ['500', 'JPY', 500],
  ['500.0', 'JPY', 'invalid'],
  ['1.234', 'KWD', 1234],
])(
  'an amount at Braintree is read from the decimal %s in the currency %s as %s minor units',
  (value, currency, expected) => {
    expect(parseAmount(value, currency)).toBe(expected)
  },
)

it('an amount at Braintree is formatted so that parsing returns the same amount', () => {
  const currency = fc.constantFrom('USD', 'JPY', 'KWD')
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9_999_999_999 }), currency, (minor, code) => {
      expect(parseAmount(formatAmount(minor, code), code)).toBe(minor)
    }),
  )
  expect(formatAmount(-5, 'USD')).toBe('-0.05')
})
