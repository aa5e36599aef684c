import type { PreviewLineKind, UpcomingInvoice } from '@tollgate/billing'
import { describe, expect, it } from 'vitest'
import { describeState, type SubscriptionCondition } from './describe-state.ts'

const end = new Date('2027-03-03T10:00:00Z')

/** A subscription for which only these conditions hold. */
function condition(holds: readonly (keyof SubscriptionCondition)[]): SubscriptionCondition {
  const asks = (name: keyof SubscriptionCondition) => () => holds.includes(name)
  return {
    ended: asks('ended'),
    incomplete: asks('incomplete'),
    onGracePeriod: asks('onGracePeriod'),
    pastDue: asks('pastDue'),
    paused: asks('paused'),
    onTrial: asks('onTrial'),
    trialEndsAt: end,
    endsAt: end,
  }
}

const line = (kind: PreviewLineKind, amount: number) => ({
  kind,
  description: '',
  amount: { amount, currency: 'usd' },
})

describe('describeState(), which describes a subscription on the billing page,', () => {
  it.each<[readonly (keyof SubscriptionCondition)[], string, string]>([
    [[], 'Active', 'The next payment is on 3 March 2027.'],
    [['onTrial'], 'Trial', 'Trial until 3 March 2027.'],
    [['onGracePeriod'], 'Cancelled', 'remains active until 3 March 2027.'],
    [['onTrial', 'onGracePeriod'], 'Cancelled', 'You will not be charged again.'],
    [['pastDue'], 'Payment failed', 'will be retried'],
    [['pastDue', 'onGracePeriod'], 'Cancelled', 'remains active until 3 March 2027.'],
    [['paused'], 'Paused', 'you are not charged until it resumes'],
    [['paused', 'onTrial'], 'Paused', 'you are not charged until it resumes'],
    [['paused', 'onGracePeriod'], 'Cancelled', 'remains active until 3 March 2027.'],
    [['incomplete'], 'Not paid', 'has not started yet'],
    [['ended'], 'Ended', 'The subscription ended on 3 March 2027.'],
    [['ended', 'incomplete', 'pastDue'], 'Ended', 'The subscription ended on 3 March 2027.'],
  ])('describes a subscription with the conditions %j as "%s"', (holds, label, words) => {
    const told = { periodEndsAt: end, endReason: null, upcoming: null }
    const state = describeState(condition(holds), told, true)
    expect(state.label).toBe(label)
    expect(state.sentence).toContain(words)
  })

  it('does not say that a payment failed if it is waiting for the bank’s confirmation', () => {
    const unpaid = { code: 'payment_action_required' } as const
    const told = { periodEndsAt: end, endReason: null, upcoming: null, unpaid }
    const { label, sentence } = describeState(condition(['pastDue']), told, true)
    expect([label, sentence]).toEqual([
      'Waiting for confirmation',
      expect.stringContaining('at your bank'),
    ])
  })

  it.each<[string, number, UpcomingInvoice['lines'], string]>([
    ['a price', 1200, [], 'The next payment is on 3 March 2027: $12.00.'],
    [
      'credit',
      0,
      [line('balance', -1200)],
      'The next payment is on 3 March 2027: covered by your credit.',
    ],
    ['a free plan', 0, [line('item', 0)], 'The next payment is on 3 March 2027: nothing is due.'],
    [
      'a coupon',
      0,
      [line('item', 1200), line('discount', -1200)],
      'on 3 March 2027: nothing is due.',
    ],
    ['too much unused', 0, [line('proration', -5), line('balance', 5)], 'nothing is due.'],
  ])('describes the next payment of %s', (_name, amount, lines, words) => {
    const upcoming = { date: end, total: { amount, currency: 'usd' }, lines }
    const told = { periodEndsAt: null, endReason: null, upcoming }
    expect(describeState(condition([]), told, true).sentence).toContain(words)
  })

  it.each([
    [true, 'Trial until 3 March 2027. The first payment is on that day: $12.00.'],
    [
      false,
      'Trial until 3 March 2027. The subscription ends on that day unless you add a payment method.',
    ],
  ])('says what happens after a trial (with a card: %s)', (hasCard, sentence) => {
    const upcoming = { date: end, total: { amount: 1200, currency: 'usd' }, lines: [] }
    const told = { periodEndsAt: end, endReason: null, upcoming }
    expect(describeState(condition(['onTrial']), told, hasCard).sentence).toBe(sentence)
  })

  it('mentions no date if the date is unknown', () => {
    const told = { periodEndsAt: null, endReason: null, upcoming: null }
    expect(describeState(condition([]), told, true).sentence).toBe('The subscription is active.')
  })

  it.each([
    ['cancelled', 'The subscription was cancelled, and ended on 3 March 2027.'],
    ['payment_failed', 'The payment failed, so the subscription ended on 3 March 2027.'],
    ['payment_disputed', 'A payment was disputed, so the subscription ended on 3 March 2027.'],
  ] as const)('states why the subscription ended: %s', (endReason, sentence) => {
    const told = { periodEndsAt: null, endReason, upcoming: null }
    expect(describeState(condition(['ended']), told, true).sentence).toBe(sentence)
  })
})
