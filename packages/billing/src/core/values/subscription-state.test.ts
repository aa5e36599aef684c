import { describe, expect, it } from 'vitest'
import { BRAINTREE_MANIFEST } from '../../braintree-provider.ts'
import { STRIPE_MANIFEST } from '../../stripe-provider.ts'
import * as state from './subscription-state.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)

type Verdict =
  | 'active'
  | 'onTrial'
  | 'cancelled'
  | 'onGracePeriod'
  | 'ended'
  | 'recurring'
  | 'valid'
  | 'willBeBilled'

/**
 * Each row: status, end of trial, end, and the methods that return true. All others return false.
 */
const table: [string, string, Date | null, Date | null, Verdict[]][] = [
  ['running', 'active', null, null, ['active', 'recurring', 'valid', 'willBeBilled']],
  ['on trial', 'trialing', at(1), null, ['active', 'onTrial', 'valid', 'willBeBilled']],
  [
    'at the very end of its trial',
    'trialing',
    at(0),
    null,
    ['active', 'recurring', 'valid', 'willBeBilled'],
  ],
  ['past its trial', 'active', at(-1), null, ['active', 'recurring', 'valid', 'willBeBilled']],
  ['cancelled, in grace', 'active', null, at(1), ['active', 'cancelled', 'onGracePeriod', 'valid']],
  [
    'cancelled on trial',
    'trialing',
    at(1),
    at(1),
    ['active', 'onTrial', 'cancelled', 'onGracePeriod', 'valid'],
  ],
  ['at the very end of its grace', 'active', null, at(0), ['cancelled', 'ended']],
  ['ended', 'canceled', null, at(-1), ['cancelled', 'ended']],
  ['ended now during its trial', 'canceled', at(100), at(0), ['cancelled', 'ended']],
  ['ended at Braintree in its trial', 'Canceled', at(100), at(-5), ['cancelled', 'ended']],
  ['past due', 'past_due', null, null, ['active', 'recurring', 'valid', 'willBeBilled']],
  [
    'past due at Braintree',
    'Past Due',
    null,
    null,
    ['active', 'recurring', 'valid', 'willBeBilled'],
  ],
  ['incomplete', 'incomplete', null, null, ['willBeBilled']],
  ['incomplete for good', 'incomplete_expired', null, at(-1), ['cancelled', 'ended']],
  ['unpaid', 'unpaid', null, null, ['willBeBilled']],
  ['paused', 'paused', null, null, []],
  ['not begun at Braintree', 'Pending', null, null, ['willBeBilled']],
]

describe('the state of a subscription', () => {
  it.each(table)(
    'is derived from a database row that is %s',
    (_name, providerStatus, trialEndsAt, endsAt, expected) => {
      const statuses = { ...STRIPE_MANIFEST.statuses, ...BRAINTREE_MANIFEST.statuses }
      const standing = state.lookUpStanding(statuses, providerStatus)
      const columns = { standing, trialEndsAt, endsAt }
      const answers: Record<Verdict, boolean> = {
        active: state.isSubscriptionActive(columns, NOW),
        onTrial: state.isTrialRunning(columns, NOW),
        cancelled: state.isSubscriptionCancelled(columns),
        onGracePeriod: state.isOnGracePeriod(columns, NOW),
        ended: state.hasSubscriptionEnded(columns, NOW),
        recurring: state.isSubscriptionRecurring(columns, NOW),
        valid: state.isSubscriptionValid(columns, NOW),
        willBeBilled: state.willBeBilled(columns),
      }
      const yes = Object.entries(answers).filter(([, verdict]) => verdict)
      expect(yes.map(([name]) => name)).toEqual(expected)
    },
  )

  it('includes the generic trial of its user, up to and including the moment when the trial ends', () => {
    expect(state.isOnUserTrial(at(0), NOW)).toBe(true)
    expect(state.isOnUserTrial(at(-1), NOW)).toBe(false)
    expect(state.isOnUserTrial(null, NOW)).toBe(false)
  })
})

describe('the functions that derive the state of a subscription', () => {
  const open = { standing: 'open', trialEndsAt: null, endsAt: null } as const

  it.each([
    ['open', false, false],
    ['past_due', true, false],
    ['awaits_first_payment', false, true],
    ['closed', false, false],
  ] as const)(
    'derive pastDue() and awaitsFirstPayment() from the meaning of the provider’s status (meaning: %s, expected: %s and %s)',
    (standing, isLate, isAwaited) => {
      const columns = { ...open, standing }
      expect([state.isPastDue(columns), state.awaitsFirstPayment(columns)]).toEqual([
        isLate,
        isAwaited,
      ])
    },
  )

  it('return false for active() while access is suspended', () => {
    expect(state.isSubscriptionActive(open, NOW)).toBe(true)
    expect(state.isSubscriptionActive({ ...open, isSuspended: true }, NOW)).toBe(false)
  })

  it.each([
    ['running', null, null, false],
    ['paused', at(-1), null, true],
    ['paused, in grace', at(-1), at(1), true],
    ['ended while it was paused', at(-1), at(0), false],
  ])(
    'return true for paused() only until the subscription ends (case: %s)',
    (_name, pausedAt, endsAt, expectedPaused) => {
      expect(state.isSubscriptionPaused({ ...open, pausedAt, endsAt }, NOW)).toBe(expectedPaused)
    },
  )

  it('treat a status with the name of an object method, such as constructor, as unknown', () => {
    expect(state.lookUpStanding({}, 'constructor')).toBe('open')
  })
})
