import { describe, expect, it } from 'vitest'
import { DECIMAL_ONE } from '../../../core/values/decimal.ts'
import type { MeteredPrice } from '../../../core/values/metered-price.ts'
import type { MeterBill } from '../../../core/values/usage-bill.ts'
import { buildUsageBill, sumWithoutTax, toLinesWithTax } from './bill.ts'

const UNIT: MeteredPrice = { unitAmount: 100, description: 'Call' }
const VOLUME: MeteredPrice = {
  mode: 'volume',
  tiers: [
    { upTo: 10, unitAmount: 100 },
    { upTo: null, unitAmount: 50 },
  ],
}

/**
 * Charges one report after the other, each after the one before was paid, and returns the charged
 * amounts.
 */
function chargedFor(reports: readonly number[], priceOf: (index: number) => MeteredPrice | null) {
  const bills: MeterBill[] = []
  let used = 0n
  return reports.map((report, index) => {
    const value = BigInt(report) * DECIMAL_ONE
    const ledger = { used: new Map([['calls', used]]), bills }
    const made = buildUsageBill(ledger, new Map([['calls', value]]), () => priceOf(index))
    bills.push(...made)
    used += value
    return sumWithoutTax(made)
  })
}

describe('buildUsageBill()', () => {
  it.each<[string, MeteredPrice, readonly number[], readonly number[]]>([
    ['more usage', UNIT, [10, 5], [1000, 500]],
    ['a correction, the same again, then more', UNIT, [10, -5, 5, 1], [1000, 0, 0, 100]],
    ['a negative total', UNIT, [-5, 6], [0, 100]],
    ['a volume that becomes cheaper', VOLUME, [10, 1, 10], [1000, 0, 50]],
  ])(
    'charges only the difference to the earlier charges of the period: %s',
    (_what, price, reports, cents) => {
      expect(chargedFor(reports, () => price)).toEqual(cents)
    },
  )

  it('keeps the price of the first charge in the period', () => {
    const dearer: MeteredPrice = { unitAmount: 120 }
    expect(chargedFor([10, 1], (index) => (index === 0 ? UNIT : dearer))).toEqual([1000, 100])
    expect(chargedFor([10, 1], (index) => (index === 0 ? UNIT : null))).toEqual([1000, 100])
    expect(chargedFor([10, 1], (index) => (index === 0 ? null : UNIT))).toEqual([0, 1100])
  })

  it('returns invoice lines for the whole period, and one line that subtracts the earlier charges', () => {
    const price: MeteredPrice = {
      mode: 'graduated',
      tiers: [
        { upTo: 10, flatAmount: 500 },
        { upTo: null, unitAmount: '12.5' },
      ],
    }
    const nothing = { used: new Map(), bills: [] }
    const calls = (count: bigint) => new Map([['calls', count * DECIMAL_ONE]])
    const first = buildUsageBill(nothing, calls(4n), () => price)
    expect(first).toMatchObject([{ lines: [{ description: 'calls (tier 1)', amount: 500 }] }])
    const later = { used: calls(4n), bills: first }
    expect(buildUsageBill(later, calls(10n), () => price)[0]?.lines).toEqual([
      { description: 'calls (tier 1)', quantity: '1', unitAmount: '500', amount: 500 },
      { description: 'calls (tier 2)', quantity: '4', unitAmount: '12.5', amount: 50 },
      { description: 'calls (charged before)', quantity: '1', unitAmount: '-500', amount: -500 },
    ])
  })
})

it.each([
  [0, ['0.5', '100'], [5, 300]],
  [1900, ['0.595', '119'], [6, 357]],
  [770, ['0.5385', '107.7'], [5, 323]],
])(
  'toLinesWithTax() adds a tax of %i hundredths of a percent to each line and, exactly, to the total',
  (tax, units, amounts) => {
    const lines = [
      { description: 'a', quantity: '10', unitAmount: '0.5', amount: 5 },
      { description: 'b', quantity: '3', unitAmount: '100', amount: 300 },
    ]
    const shown = toLinesWithTax({ tax, meters: [{ meter: 'a', price: UNIT, lines }] })
    expect(shown.map(({ unitAmount }) => unitAmount)).toEqual(units)
    expect(shown.map(({ amount }) => amount)).toEqual(amounts)
  },
)
