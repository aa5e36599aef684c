import { describe, expect, it } from 'vitest'
import { type Condition, describeState } from './describe-state.ts'

const end = new Date('2027-03-03T10:00:00Z')

/** A subscription of which only this is true. */
function condition(holds: readonly (keyof Condition)[]): Condition {
  const asks = (name: keyof Condition) => () => holds.includes(name)
  return {
    ended: asks('ended'),
    incomplete: asks('incomplete'),
    onGracePeriod: asks('onGracePeriod'),
    pastDue: asks('pastDue'),
    onTrial: asks('onTrial'),
    trialEndsAt: end,
    endsAt: end,
  }
}

describe('the words for a subscription', () => {
  it.each<[readonly (keyof Condition)[], string, string]>([
    [[], 'Active', 'The next payment is on 3 March 2027.'],
    [['onTrial'], 'Trial', 'Trial until 3 March 2027.'],
    [['onGracePeriod'], 'Cancelled', 'stays open until 3 March 2027.'],
    [['onTrial', 'onGracePeriod'], 'Cancelled', 'Nothing more will be charged.'],
    [['pastDue'], 'Payment failed', 'will be tried again'],
    [['pastDue', 'onGracePeriod'], 'Cancelled', 'stays open until 3 March 2027.'],
    [['incomplete'], 'Not paid', 'not open yet'],
    [['ended'], 'Ended', 'It ended on 3 March 2027.'],
    [['ended', 'incomplete', 'pastDue'], 'Ended', 'It ended on 3 March 2027.'],
  ])('that is %j are %s', (holds, label, words) => {
    const state = describeState(condition(holds), { periodEndsAt: end, endReason: null })
    expect(state.label).toBe(label)
    expect(state.sentence).toContain(words)
  })

  it('name no date that nobody knows', () => {
    const told = { periodEndsAt: null, endReason: null }
    expect(describeState(condition([]), told).sentence).toBe('It is running.')
  })

  it.each([
    ['cancelled', 'It was cancelled, and ended on 3 March 2027.'],
    ['payment_failed', 'The payment failed, so it ended on 3 March 2027.'],
    ['payment_disputed', 'A payment was disputed, so it ended on 3 March 2027.'],
  ] as const)('say why it ended: %s', (endReason, sentence) => {
    const told = { periodEndsAt: null, endReason }
    expect(describeState(condition(['ended']), told).sentence).toBe(sentence)
  })
})
