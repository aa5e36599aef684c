import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../errors.ts'
import { requireStart, type WantedStart } from './start-terms.ts'

const NOW = new Date('2026-01-15T10:00:00Z')
const day = (days: number) => new Date(NOW.getTime() + days * 86_400_000)

type Terms = Partial<WantedStart>

describe('how a subscription begins', () => {
  it.each<[string, Terms]>([
    ['at once', {}],
    ['with a trial', { trialDays: 9 }],
    ['on a later day', { anchorAt: day(17) }],
    ['free until a later day', { anchorAt: day(17), prorate: false }],
    ['with a trial before that day', { anchorAt: day(17), trialDays: 9 }],
    ['with a trial up to that day', { anchorAt: day(17), trialEndsAt: day(17) }],
    ['without a trial, which the plan would have', { anchorAt: day(17), trialDays: 0 }],
    ['in the past', { backdateTo: day(-40) }],
    ['now, as if it were the past', { backdateTo: NOW }],
    ['in the past and whole from a later day', { backdateTo: day(-40), anchorAt: day(9) }],
    ['without a card', { withoutCard: true }],
    ['without a card in a trial', { withoutCard: true, trialDays: 9 }],
    ['with terms that say nothing', { prorate: false }],
  ])('can be %s', (_name, terms) => {
    expect(() => requireStart({ trialDays: null, ...terms }, NOW)).not.toThrow()
  })

  it.each<[string, Terms]>([
    ['on a day that is over', { anchorAt: day(-1) }],
    ['on no day at all', { anchorAt: new Date('never') }],
    ['on the word for a day', { anchorAt: '2026-02-01' as never }],
    ['whole from a day within the trial', { anchorAt: day(5), trialDays: 9 }],
    ['whole from a day before the trial ends', { anchorAt: day(5), trialEndsAt: day(6) }],
    ['with a trial, and free from there', { anchorAt: day(17), trialDays: 9, prorate: false }],
    ['in the future as in the past', { backdateTo: day(1) }],
    ['with a trial in the past', { backdateTo: day(-40), trialDays: 9 }],
    ['with a trial since the past', { backdateTo: day(-40), trialEndsAt: day(9) }],
    [
      'free and without a card until a day',
      { withoutCard: true, anchorAt: day(9), prorate: false },
    ],
  ])('cannot be %s', (_name, terms) => {
    expect(() => requireStart({ trialDays: null, ...terms }, NOW)).toThrow(InvalidArgument)
  })
})
