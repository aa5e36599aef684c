import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { PriceRow } from '../state/rows.ts'
import { UNITS_PER_ONE } from '../wire/decimals.ts'
import { computeCost, readTiers, splitIntoParts, sumParts } from './tiers.ts'

const TIERS = [
  { up_to: 100, unit_amount: 0 },
  { up_to: 1000, unit_amount_decimal: '0.5' as never },
  { up_to: 'inf' as const, unit_amount_decimal: '0.25' as never, flat_amount: 300 },
]

function tiered(mode: 'graduated' | 'volume', tiers = TIERS): PriceRow {
  return {
    currency: 'usd',
    tiers_mode: mode,
    transform_quantity: null,
    unit_amount_decimal: null,
    $: { tiers: readTiers(tiers) },
  } as unknown as PriceRow
}

function packaged(round: 'up' | 'down'): PriceRow {
  return {
    currency: 'usd',
    transform_quantity: { divide_by: 60, round },
    unit_amount_decimal: '1000',
  } as unknown as PriceRow
}

// Expected values computed by hand: the first 100 units are free, up to 1,000 cost half a cent,
// above that a quarter of a cent plus 3 dollars.
it.each([
  [0, 0, 0],
  [100, 0, 0],
  [101, 1, 51],
  [1000, 450, 500],
  [1001, 450 + 0 + 300, 250 + 300],
  [1004, 450 + 1 + 300, 251 + 300],
  [5000, 450 + 1000 + 300, 1250 + 300],
])(
  'tiered prices: %i units cost %i cents with graduated tiers and %i cents with volume tiers',
  (quantity, graduated, volume) => {
    expect(computeCost(tiered('graduated'), quantity, 'usd')).toBe(graduated)
    expect(computeCost(tiered('volume'), quantity, 'usd')).toBe(volume)
  },
)

it('tiered prices charge the flat amount of the first tier for a quantity of zero', () => {
  const tiers = [
    { up_to: 10, flat_amount: 500 },
    { up_to: 'inf' as const, unit_amount: 20 },
  ]
  for (const mode of ['graduated', 'volume'] as const) {
    expect(computeCost(tiered(mode, tiers as never), 0, 'usd')).toBe(500)
  }
  expect(computeCost(tiered('graduated', tiers as never), 12, 'usd')).toBe(500 + 2 * 20)
  expect(computeCost(tiered('volume', tiers as never), 12, 'usd')).toBe(12 * 20)
})

it.each([
  [0, 0, 0],
  [59, 1000, 0],
  [60, 1000, 1000],
  [61, 2000, 1000],
  [150, 3000, 2000],
])(
  'prices by package: %i units in packages of sixty cost %i cents if rounded up and %i cents if rounded down',
  (quantity, up, down) => {
    expect(computeCost(packaged('up'), quantity, 'usd')).toBe(up)
    expect(computeCost(packaged('down'), quantity, 'usd')).toBe(down)
  },
)

it('tiered prices assign every unit of a quantity to exactly one tier', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100_000 }), (quantity) => {
      const parts = splitIntoParts(tiered('graduated'), BigInt(quantity) * UNITS_PER_ONE, 'usd')
      const sum = parts.reduce((total, part) => total + part.quantity, 0n)
      expect(sum).toBe(BigInt(quantity) * UNITS_PER_ONE)
      expect(sumParts(parts)).toBe(parts.reduce((total, part) => total + part.amount, 0))
    }),
  )
})

it.each([
  ['no unlimited tier', [{ up_to: 5, unit_amount: 1 }], 'tiers[0][up_to]'],
  [
    'two unlimited tiers',
    [
      { up_to: 'inf', unit_amount: 1 },
      { up_to: 'inf', unit_amount: 1 },
    ],
    'tiers[0][up_to]',
  ],
  [
    'limits that do not increase',
    [
      { up_to: 5, unit_amount: 1 },
      { up_to: 5, unit_amount: 1 },
      { up_to: 'inf', unit_amount: 1 },
    ],
    'tiers[1][up_to]',
  ],
  ['no amount', [{ up_to: 'inf' }], 'tiers[0][unit_amount]'],
  [
    'two amounts',
    [{ up_to: 'inf', unit_amount: 1, unit_amount_decimal: '1' }],
    'tiers[0][unit_amount]',
  ],
  ['a negative amount', [{ up_to: 'inf', flat_amount: -1 }], 'tiers[0][flat_amount]'],
])('tiered prices are rejected with %s', (_what, tiers, param) => {
  expect(() => readTiers(tiers as never)).toThrow(
    expect.objectContaining({ body: expect.objectContaining({ param }) }),
  )
})
