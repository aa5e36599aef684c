import { describe, expect, it } from 'vitest'
import { parseAmount } from './amount.ts'

describe('parseAmount', () => {
  it.each([
    ['12.50', 'usd', 1250],
    ['0.01', 'EUR', 1],
    ['1250', 'jpy', 1250],
    ['1.250', 'kwd', 1250],
  ])('reads %s %s as %i of the smallest unit', (text, currency, amount) => {
    expect(parseAmount(text, currency)).toEqual({ amount, currency: currency.toLowerCase() })
  })

  it.each<[string, string, string]>([
    ...[
      '1250',
      '12.5',
      '12.500',
      '12,50',
      '0.00',
      '-1.00',
      '1e2',
      ' 1.00',
      '01.00',
      '0x10',
      '',
    ].map((text): [string, string, string] => [text, 'usd', '12.50']),
    ['12.50', 'jpy', '1250'],
    ['12.50', 'kwd', '1.250'],
  ])('rejects %j in %s, and shows how to write an amount', (text, currency, example) => {
    expect(() => parseAmount(text, currency)).toThrow(`Write it like ${example}`)
  })
})
