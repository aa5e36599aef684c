import { describe, expect, it } from 'vitest'
import { InvalidField } from './action.tsx'
import { readAmount } from './billing-fields.tsx'

const read = (amount: string, currency: string) =>
  readAmount(new URLSearchParams({ amount, currency }))

describe('the amount in a form of an operator', () => {
  it.each([
    ['12.50', 'usd', 1250],
    [' 12,50 ', 'eur', 1250],
    ['0.05', 'usd', 5],
    ['12', 'usd', 1200],
    ['1250', 'jpy', 1250],
    ['1,250', 'kwd', 1250],
  ])('reads %j in %s as %i of the smallest unit', (text, currency, amount) => {
    expect(read(text, currency)).toEqual({ amount, currency })
  })

  it.each([
    ['1,250', 'usd'],
    ['1.250', 'eur'],
    ['1,000', 'jpy'],
    ['1,250.00', 'usd'],
    ['12.5', 'usd'],
    ['0', 'usd'],
    ['-1.00', 'usd'],
    ['', 'usd'],
    ['1.00', ''],
  ])('rejects %j in %j, which may be meant in another way', (text, currency) => {
    expect(() => read(text, currency)).toThrow(InvalidField)
  })
})
