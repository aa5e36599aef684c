import { describe, expect, it } from 'vitest'
import type { Statistic } from '../../../statistics/daily-statistics.ts'
import { roundUpAxis } from './plot.tsx'
import { createPlots } from './plots.ts'

const now = new Date('2027-03-03T10:00:00Z')
const revenue = (unit: string, amount: number, day = '2027-03-02'): Statistic => ({
  name: 'revenue',
  day,
  unit,
  amount,
})

describe('createPlots(), which prepares the charts of the overview,', () => {
  it('never adds one currency to another', () => {
    const statistics = [
      revenue('usd', 1000),
      revenue('eur', 2000),
      revenue('usd', 500, '2027-03-03'),
    ]
    const plots = createPlots({ statistics, now, billingNow: now, currency: 'usd' })
    const shown = plots.filter(({ id }) => id.startsWith('revenue'))
    expect(shown.map(({ title, headline }) => [title, headline])).toEqual([
      ['Revenue in EUR', '€20.00 in 30 days'],
      ['Revenue in USD', '$15.00 in 30 days'],
    ])
    expect(shown[1]?.series[0]?.values.slice(-2)).toEqual([1000, 500])
  })

  it('leaves out statistics from before the period that is shown', () => {
    const statistics = [revenue('usd', 1000, '2027-02-01'), revenue('eur', 1, '2026-12-01')]
    const plots = createPlots({ statistics, now, billingNow: now, currency: 'usd' })
    const shown = plots.filter(({ id }) => id.startsWith('revenue'))
    expect(shown.map(({ headline }) => headline)).toEqual(['$0.00 in 30 days'])
  })

  it.each([
    [0, 1],
    [1, 1],
    [3, 5],
    [5, 5],
    [7, 10],
    [99, 100],
    [1001, 2000],
  ])('ends the axis of a chart whose highest bar is %i at %i', (highest, top) => {
    expect(roundUpAxis(highest)).toBe(top)
  })
})
