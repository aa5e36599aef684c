import { describe, expect, it } from 'vitest'
import {
  calculateUsagePrice,
  findPriceFault,
  type MeteredPrice,
  sumPricedUsage,
} from './metered-price.ts'

/** The first 100 are free, the next 900 cost half a cent each, further ones a quarter of a cent. */
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

describe('calculateUsagePrice()', () => {
  it.each<[string, MeteredPrice, string, number]>([
    ['by the unit', { unitAmount: 2 }, '3', 6],
    ['no usage', { unitAmount: 2 }, '0', 0],
    ['negative usage as zero', { unitAmount: 2 }, '-3', 0],
    ['by fractions of a cent', { unitAmount: '0.125' }, '1001', 125],
    ['with half a cent rounded up', { unitAmount: '0.5' }, '3', 2],
    ['with just below half a cent rounded down', { unitAmount: '0.5' }, '2.999999999999', 1],
    ['fractions of a unit', { unitAmount: 150 }, '2.5', 375],
    [
      'quantities that need exact arithmetic',
      { unitAmount: 1 },
      '123456789012345',
      123_456_789_012_345,
    ],
    ['usage within the included quantity', { unitAmount: 2, included: 100 }, '100', 0],
    ['usage beyond the included quantity', { unitAmount: 2, included: 100 }, '100.5', 1],
    ['a started package in full', PACKAGES, '1', 1000],
    ['exactly full packages', PACKAGES, '120', 2000],
    ['slightly more than full packages', PACKAGES, '120.000000000001', 3000],
    ['no packages', PACKAGES, '0', 0],
    ['packages beyond the included quantity', { ...PACKAGES, included: 100 }, '150', 1000],
    ['graduated tiers, no usage', GRADUATED, '0', 0],
    ['graduated tiers, at the end of a tier', GRADUATED, '100', 0],
    ['graduated tiers, one above a tier', GRADUATED, '101', 1],
    ['graduated tiers, usage in all of them', GRADUATED, '1100', 450 + 25],
    ['graduated tiers, beyond the included quantity', { ...GRADUATED, included: 1000 }, '1100', 0],
    ['volume tiers, at the end of a tier', VOLUME, '1000', 500],
    ['volume tiers, one above a tier', VOLUME, '1001', 250],
    ['volume tiers, in the free tier', VOLUME, '100', 0],
    ['flat tiers, no usage', FLAT, '0', 500],
    ['flat tiers, within the first', FLAT, '10', 500],
    ['flat tiers, within the second', FLAT, '12', 500 + 40 + 100],
  ])('computes the price of usage: %s', (_what, price, used, amount) => {
    expect(findPriceFault(price)).toBeNull()
    expect(sumPricedUsage(calculateUsagePrice(price, used))).toBe(amount)
  })

  it('returns an invoice line for each tier of usage', () => {
    expect(calculateUsagePrice(GRADUATED, '1100.5')).toEqual([
      { quantity: '100', unitAmount: '0', amount: 0, tier: 1 },
      { quantity: '900', unitAmount: '0.5', amount: 450, tier: 2 },
      { quantity: '100.5', unitAmount: '0.25', amount: 25, tier: 3 },
    ])
    expect(calculateUsagePrice(PACKAGES, '61')).toEqual([
      { quantity: '2', unitAmount: '1000', amount: 2000, tier: null },
    ])
  })
})

describe('findPriceFault()', () => {
  it.each<[string, unknown]>([
    ['no amount', {}],
    ['an amount below zero', { unitAmount: -1 }],
    ['an exponent', { unitAmount: 1e-7 }],
    ['too many places', { unitAmount: '0.1234567890123' }],
    ['a fractional included quantity', { unitAmount: 1, included: 0.5 }],
    ['an empty package', { unitAmount: 1, packageSize: 0 }],
    ['no mode', { tiers: TIERS }],
    ['no tiers', { mode: 'volume', tiers: [] }],
    ['a last tier with an end', { mode: 'volume', tiers: [{ upTo: 5, unitAmount: 1 }] }],
    ['a tier without an amount', { mode: 'volume', tiers: [{ upTo: null }] }],
    [
      'tiers that do not ascend',
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
  ])('describes what is wrong with a metered price that has %s', (_what, price) => {
    expect(findPriceFault(price as MeteredPrice)).not.toBeNull()
  })
})
