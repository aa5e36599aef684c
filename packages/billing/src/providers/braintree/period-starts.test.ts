import { expect, it } from 'vitest'
import { type BillingPeriodFields, listPeriodStarts } from './period-starts.ts'

/**
 * First and last day of the current period, its number, the billing day of the month, and the first
 * billing date.
 */
type Case = readonly [string, string, number, number, string]

const billed = ([start, end, cycle, day, first]: Case): BillingPeriodFields => ({
  billingPeriodStartDate: start,
  billingPeriodEndDate: end,
  currentBillingCycle: cycle,
  billingDayOfMonth: day,
  firstBillingDate: first,
})

it.each<[string, Case, string[]]>([
  ['the first period', ['2026-01-15', '2026-02-14', 1, 15, '2026-01-15'], ['2026-01-15']],
  [
    'monthly',
    ['2026-03-15', '2026-04-14', 3, 15, '2026-01-15'],
    ['2026-01-15', '2026-02-15', '2026-03-15'],
  ],
  [
    'on the last day of the month',
    ['2026-03-31', '2026-04-29', 3, 31, '2026-01-30'],
    ['2026-01-30', '2026-02-28', '2026-03-31'],
  ],
  [
    'a short current period',
    ['2026-02-28', '2026-03-30', 2, 31, '2026-01-31'],
    ['2026-01-31', '2026-02-28'],
  ],
  [
    'yearly',
    ['2028-02-29', '2029-02-27', 3, 31, '2026-02-28'],
    ['2026-02-28', '2027-02-28', '2028-02-29'],
  ],
  [
    'quarterly, across a new year',
    ['2027-02-01', '2027-04-30', 3, 1, '2026-08-01'],
    ['2026-08-01', '2026-11-01', '2027-02-01'],
  ],
  [
    'a shortened first period',
    ['2026-03-01', '2026-03-31', 3, 1, '2026-01-20'],
    ['2026-01-20', '2026-02-01', '2026-03-01'],
  ],
])(
  'listPeriodStarts() computes the start of each billing period of a Braintree subscription: %s',
  (_what, given, starts) => {
    expect(listPeriodStarts(billed(given))).toEqual(starts)
  },
)

it('listPeriodStarts() returns no billing periods before the first charge', () => {
  const waiting = { currentBillingCycle: 0, billingDayOfMonth: 1, firstBillingDate: '2026-02-01' }
  expect(listPeriodStarts(waiting as BillingPeriodFields)).toEqual([])
})
