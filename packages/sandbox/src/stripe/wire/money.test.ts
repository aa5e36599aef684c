import { expect, it } from 'vitest'
import { formatAmount, formatDecimal, formatMinimum } from './money.ts'

it.each([
  [1050, 'usd', '$10.50'],
  [500, 'jpy', '¥500'],
  [5120, 'kwd', '5.120 KWD'],
  [300, 'sek', '3.00 SEK'],
  [-5, 'eur', '-€0.05'],
])(
  'an amount in a Stripe message is formatted: %i minor units in %s as %s',
  (amount, currency, text) => {
    expect(formatAmount(amount, currency)).toBe(text)
  },
)

it('an amount in a Stripe message has additional decimals if it contains fractions of a cent', () => {
  expect(formatDecimal('0.5', 'usd')).toBe('$0.005')
  expect(formatDecimal('0.5', 'bhd')).toBe('0.0005 BHD')
})

it('the minimum amount in a Stripe message contains the currency code once', () => {
  expect([formatMinimum('usd'), formatMinimum('sek')]).toEqual(['$0.50 usd', '3.00 sek'])
})
