import { describe, expect, it } from 'vitest'
import { faultOf, type MeteredPrice, priceUsage, sumOf } from './metered-price.ts'

/** A hundred are free, the next 900 are half a cent each, then a quarter. */
const TIERS = [
  { upTo: 100, unitAmount: 0 },
  { upTo: 1000, unitAmount: '0.5' },
  { upTo: null, unitAmount: '0.25' },
] as const
const GRADUATED: MeteredPrice = { mode: 'graduated', tiers: TIERS }
const VOLUME: MeteredPrice = { mode: 'volume', tiers: TIERS }
const FLAT: MeteredPrice = {
  mode: 'graduated',
  tiers: [
    { upTo: 10, flatAmount: 500 },
    { upTo: null, unitAmount: 20, flatAmount: 100 },
  ],
}
const PACKAGES: MeteredPrice = { unitAmount: 1000, packageSize: 60 }

describe('what usage costs', () => {
  it.each<[string, MeteredPrice, string, number]>([
    ['by the unit', { unitAmount: 2 }, '3', 6],
    ['of nothing', { unitAmount: 2 }, '0', 0],
    ['below nothing', { unitAmount: 2 }, '-3', 0],
    ['below a cent', { unitAmount: '0.125' }, '1001', 125],
    ['a half up', { unitAmount: '0.5' }, '3', 2],
    ['just below a half', { unitAmount: '0.5' }, '2.999999999999', 1],
    ['with decimals', { unitAmount: 150 }, '2.5', 375],
    ['beyond what a number holds', { unitAmount: 1 }, '123456789012345', 123_456_789_012_345],
    ['within what is included', { unitAmount: 2, included: 100 }, '100', 0],
    ['beyond what is included', { unitAmount: 2, included: 100 }, '100.5', 1],
    ['in packages, one begun', PACKAGES, '1', 1000],
    ['in packages, exactly', PACKAGES, '120', 2000],
    ['in packages, a little more', PACKAGES, '120.000000000001', 3000],
    ['in packages, none', PACKAGES, '0', 0],
    ['in packages beyond what is included', { ...PACKAGES, included: 100 }, '150', 1000],
    ['graduated, none', GRADUATED, '0', 0],
    ['graduated, at the edge', GRADUATED, '100', 0],
    ['graduated, one above', GRADUATED, '101', 1],
    ['graduated, all tiers', GRADUATED, '1100', 450 + 25],
    ['graduated, beyond what is included', { ...GRADUATED, included: 1000 }, '1100', 0],
    ['by volume, at the edge', VOLUME, '1000', 500],
    ['by volume, one above', VOLUME, '1001', 250],
    ['by volume, in the free tier', VOLUME, '100', 0],
    ['flat, of nothing', FLAT, '0', 500],
    ['flat, within the first tier', FLAT, '10', 500],
    ['flat, in the second tier', FLAT, '12', 500 + 40 + 100],
  ])('%s', (_what, price, used, amount) => {
    expect(faultOf(price)).toBeNull()
    expect(sumOf(priceUsage(price, used))).toBe(amount)
  })

  it('has a line for each tier', () => {
    expect(priceUsage(GRADUATED, '1100.5')).toEqual([
      { quantity: '100', unitAmount: '0', amount: 0, tier: 1 },
      { quantity: '900', unitAmount: '0.5', amount: 450, tier: 2 },
      { quantity: '100.5', unitAmount: '0.25', amount: 25, tier: 3 },
    ])
    expect(priceUsage(PACKAGES, '61')).toEqual([
      { quantity: '2', unitAmount: '1000', amount: 2000, tier: null },
    ])
  })
})

describe('what cannot be a price', () => {
  it.each<[string, unknown]>([
    ['no amount', {}],
    ['an amount below zero', { unitAmount: -1 }],
    ['an exponent', { unitAmount: 1e-7 }],
    ['too many places', { unitAmount: '0.1234567890123' }],
    ['half of one included', { unitAmount: 1, included: 0.5 }],
    ['packages of none', { unitAmount: 1, packageSize: 0 }],
    ['no mode', { tiers: TIERS }],
    ['no tiers', { mode: 'volume', tiers: [] }],
    ['an end of the last tier', { mode: 'volume', tiers: [{ upTo: 5, unitAmount: 1 }] }],
    ['a tier for nothing', { mode: 'volume', tiers: [{ upTo: null }] }],
    [
      'tiers in disorder',
      {
        mode: 'volume',
        tiers: [
          { upTo: 5, unitAmount: 1 },
          { upTo: 5, unitAmount: 1 },
          { upTo: null, unitAmount: 1 },
        ],
      },
    ],
    [
      'two tiers without an end',
      {
        mode: 'volume',
        tiers: [
          { upTo: null, unitAmount: 1 },
          { upTo: null, unitAmount: 1 },
        ],
      },
    ],
  ])('%s', (_what, price) => {
    expect(faultOf(price as MeteredPrice)).not.toBeNull()
  })
})
