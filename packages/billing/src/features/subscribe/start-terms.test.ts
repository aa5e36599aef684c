import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { type RequestedStart, requireValidStart } from './start-terms.ts'

const NOW = new Date('2026-01-15T10:00:00Z')
const day = (days: number) => new Date(NOW.getTime() + days * 86_400_000)

type Terms = Partial<RequestedStart>

describe('the validation of how a subscription starts', () => {
  it.each<[string, Terms]>([
    ['at once', {}],
    ['with a trial', { trialDays: 9 }],
    ['with a later anchor', { anchorAt: day(17) }],
    ['free until a later anchor', { anchorAt: day(17), prorate: false }],
    ['with a trial that ends before the anchor', { anchorAt: day(17), trialDays: 9 }],
    ['with a trial that ends at the anchor', { anchorAt: day(17), trialEndsAt: day(17) }],
    ['without the trial of the plan', { anchorAt: day(17), trialDays: 0 }],
    ['in the past', { backdateTo: day(-40) }],
    ['backdated to now', { backdateTo: NOW }],
    ['in the past, with a later anchor', { backdateTo: day(-40), anchorAt: day(9) }],
    ['without a card', { withoutCard: true }],
    ['without a card in a trial', { withoutCard: true, trialDays: 9 }],
    ['with noProrate() alone', { prorate: false }],
  ])('accepts a start %s', (_name, terms) => {
    expect(() => requireValidStart({ trialDays: null, ...terms }, NOW)).not.toThrow()
  })

  it.each<[string, Terms]>([
    ['with an anchor in the past', { anchorAt: day(-1) }],
    ['with an invalid date', { anchorAt: new Date('never') }],
    ['with a date as text', { anchorAt: '2026-02-01' as never }],
    ['with an anchor within the trial days', { anchorAt: day(5), trialDays: 9 }],
    ['with an anchor before the end of the trial', { anchorAt: day(5), trialEndsAt: day(6) }],
    [
      'with a trial, and then free until the anchor',
      { anchorAt: day(17), trialDays: 9, prorate: false },
    ],
    ['backdated to the future', { backdateTo: day(1) }],
    ['backdated with trial days', { backdateTo: day(-40), trialDays: 9 }],
    ['backdated with an end of the trial', { backdateTo: day(-40), trialEndsAt: day(9) }],
    [
      'free and without a card until the anchor',
      { withoutCard: true, anchorAt: day(9), prorate: false },
    ],
  ])('rejects a start %s', (_name, terms) => {
    expect(() => requireValidStart({ trialDays: null, ...terms }, NOW)).toThrow(InvalidArgument)
  })
})
