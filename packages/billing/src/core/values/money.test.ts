import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidAmount } from '../errors/errors.ts'
import {
  calculateProportion,
  formatMoney,
  fromDecimal,
  isCurrency,
  money,
  requireAmount,
  requireMoney,
  toDecimal,
} from './money.ts'

describe('an amount of money', () => {
  it.each([
    [1999, 'usd', '19.99'],
    [5, 'eur', '0.05'],
    [-5, 'eur', '-0.05'],
    [500, 'jpy', '500'],
    [1234, 'kwd', '1.234'],
    [0, 'usd', '0.00'],
  ])(
    'formats %i smallest units of %s as the decimal %s, and reads it back',
    (amount, currency, text) => {
      expect(toDecimal(money(amount, currency))).toBe(text)
      expect(fromDecimal(text, currency)).toEqual({ amount, currency })
    },
  )

  it.each([
    [19.99, 'usd', 1999],
    [0.1, 'usd', 10],
    [12, 'usd', 1200],
    [1.005, 'kwd', 1005],
    [1.15, 'usd', 115],
  ])(
    'parses the decimal number %d in the currency %s without floating-point errors',
    (value, currency, amount) => {
      expect(fromDecimal(value, currency).amount).toBe(amount)
    },
  )

  it.each([
    [19.999, 'usd'],
    [1.5, 'jpy'],
    [Number.NaN, 'usd'],
    [Number.POSITIVE_INFINITY, 'usd'],
    [1e21, 'usd'],
    ['1,00', 'usd'],
    ['', 'usd'],
  ])('rejects the decimal %s in the currency %s', (value, currency) => {
    expect(() => fromDecimal(value, currency)).toThrow(InvalidAmount)
  })

  it('is a whole number of the smallest currency unit, with a valid currency code', () => {
    expect(() => money(19.99, 'usd')).toThrow(InvalidAmount)
    expect(() => money(1, 'dollars')).toThrow(InvalidAmount)
  })

  it('is formatted with as many decimals as its currency has', () => {
    expect(formatMoney(money(1999, 'eur'))).toBe('€19.99')
    expect(formatMoney(money(500, 'jpy'))).toBe('¥500')
    expect(formatMoney(money(1234, 'kwd'))).toMatch(/1\.234/)
    expect(formatMoney(money(-1050, 'usd'))).toBe('-$10.50')
    expect(formatMoney(money(900_719_925_474_0991, 'usd'))).toBe('$90,071,992,547,409.91')
  })

  it('is the same after it was formatted as a decimal and parsed again', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e12, max: 1e12 }),
        fc.constantFrom('usd', 'jpy', 'kwd'),
        (amount, currency) => {
          const value = money(amount, currency)
          expect(fromDecimal(toDecimal(value), currency).amount).toBe(amount)
        },
      ),
    )
  })

  it('is divided to the nearest unit, with halves rounded away from zero', () => {
    expect(calculateProportion(1000, 1, 3)).toBe(333)
    expect(calculateProportion(1001, 1, 2)).toBe(501)
    expect(calculateProportion(-1001, 1, 2)).toBe(-501)
    expect(calculateProportion(1000, 30, 30)).toBe(1000)
    expect(calculateProportion(9_007_199_254_740_991, 364, 365)).toBe(8_982_521_996_508_824)
  })
})

describe('money passed by a caller', () => {
  it.each([
    ['usd', true],
    ['EUR', true],
    ['hrk', true],
    ['zzz', false],
    ['', false],
    [null, false],
    [{}, false],
  ])('has a valid currency if its code is %j: expected %s', (code, isKnown) => {
    expect(isCurrency(code)).toBe(isKnown)
  })

  it.each([
    [12, /12 is not an amount/],
    ['12', /is not an amount/],
    [null, /null is not an amount/],
    [undefined, /undefined is not an amount/],
    [{ amount: 12 }, /The currency is undefined/],
    [{ amount: 12, currency: 'zzz' }, /The currency is 'zzz'/],
    [{ amount: 1.5, currency: 'usd' }, /1.5 is not an amount; expected a whole number/],
  ])('is rejected if it is %j', (value, message) => {
    expect(() => requireMoney(value)).toThrow(InvalidAmount)
    expect(() => requireMoney(value)).toThrow(message)
  })

  const inEuros = (amount: number | { amount: number; currency: string }) =>
    typeof amount === 'number' ? money(amount, 'eur') : money(amount.amount, amount.currency)

  it('is either a number in the provider’s default currency, or an amount with a currency', () => {
    expect(requireAmount(1, inEuros)).toEqual({ amount: 1, currency: 'eur' })
    const stated = { amount: 5, currency: 'USD' }
    expect(requireMoney(stated)).toEqual({ amount: 5, currency: 'usd' })
    expect(requireAmount(stated, inEuros)).toEqual({ amount: 5, currency: 'usd' })
  })

  it.each([0, -1, { amount: 0, currency: 'usd' }, '5', null])(
    'is rejected by requireAmount() if it is %j, which is not an amount above zero',
    (amount) => {
      expect(() => requireAmount(amount, inEuros)).toThrow(InvalidAmount)
    },
  )

  it('is never negative zero, whether parsed from -0.00 or computed', () => {
    expect(fromDecimal('-0.00', 'usd').amount).toBe(0)
    expect(Object.is(calculateProportion(0, 1, 3), 0)).toBe(true)
  })
})
