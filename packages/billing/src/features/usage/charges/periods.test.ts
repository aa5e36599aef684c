import { describe, expect, it } from 'vitest'
import { computePricingRange, findPeriodAt } from './periods.ts'

const day = (text: string) => new Date(`2026-${text}T00:00:00Z`)
const STARTS = [day('01-15'), day('02-15'), day('03-15')]

describe('findPeriodAt()', () => {
  it.each([
    ['before the first period', day('01-01'), new Date(0), day('02-15')],
    ['in the first period', day('01-20'), new Date(0), day('02-15')],
    ['at the start of a period', day('02-15'), day('02-15'), day('03-15')],
    [
      'just before the end of a period',
      new Date(day('03-15').getTime() - 1),
      day('02-15'),
      day('03-15'),
    ],
    ['in the current period', day('03-20'), day('03-15'), null],
  ])('returns the billing period that contains a time %s', (_where, at, from, to) => {
    expect(findPeriodAt(STARTS, at)).toEqual({ from, to })
  })

  it('returns an unlimited period if no billing period has begun', () => {
    expect(findPeriodAt([], day('01-01'))).toEqual({ from: new Date(0), to: null })
    expect(findPeriodAt([day('02-01')], day('01-01'))).toEqual({ from: new Date(0), to: null })
  })
})

it('computePricingRange() prices the time of a trial separately from the rest of its billing period', () => {
  const trialEnd = day('01-15')
  const trial = { from: new Date(0), to: trialEnd }
  expect(computePricingRange(STARTS, trialEnd, day('01-10'))).toEqual(trial)
  expect(computePricingRange([], trialEnd, day('01-10'))).toEqual(trial)
  expect(computePricingRange(STARTS, trialEnd, day('01-20'))).toEqual({
    from: trialEnd,
    to: day('02-15'),
  })
  const second = { from: day('02-15'), to: day('03-15') }
  expect(computePricingRange(STARTS, trialEnd, day('02-20'))).toEqual(second)
  expect(computePricingRange(STARTS, null, day('01-20'))).toEqual({
    from: new Date(0),
    to: day('02-15'),
  })
})
