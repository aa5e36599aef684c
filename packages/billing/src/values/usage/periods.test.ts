import { describe, expect, it } from 'vitest'
import { chargedWith, periodAt } from './periods.ts'

const day = (text: string) => new Date(`2026-${text}T00:00:00Z`)
const STARTS = [day('01-15'), day('02-15'), day('03-15')]

describe('the period of a moment', () => {
  it.each([
    ['before the first', day('01-01'), new Date(0), day('02-15')],
    ['in the first', day('01-20'), new Date(0), day('02-15')],
    ['at a beginning', day('02-15'), day('02-15'), day('03-15')],
    ['just before an end', new Date(day('03-15').getTime() - 1), day('02-15'), day('03-15')],
    ['in the running one', day('03-20'), day('03-15'), null],
  ])('%s', (_where, at, from, to) => {
    expect(periodAt(STARTS, at)).toEqual({ from, to })
  })

  it('is all of time where none has begun', () => {
    expect(periodAt([], day('01-01'))).toEqual({ from: new Date(0), to: null })
    expect(periodAt([day('02-01')], day('01-01'))).toEqual({ from: new Date(0), to: null })
  })
})

it('a trial is priced apart from the period that follows', () => {
  const trialEnd = day('01-15')
  const trial = { from: new Date(0), to: trialEnd }
  expect(chargedWith(STARTS, trialEnd, day('01-10'))).toEqual(trial)
  expect(chargedWith([], trialEnd, day('01-10'))).toEqual(trial)
  expect(chargedWith(STARTS, trialEnd, day('01-20'))).toEqual({ from: trialEnd, to: day('02-15') })
  const second = { from: day('02-15'), to: day('03-15') }
  expect(chargedWith(STARTS, trialEnd, day('02-20'))).toEqual(second)
  expect(chargedWith(STARTS, null, day('01-20'))).toEqual({ from: new Date(0), to: day('02-15') })
})
