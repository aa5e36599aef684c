import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { computeReplacementState, type ReplacementState } from './stripe-replacement-codes.ts'

type Status = Stripe.Subscription.Status
type Invoice = Partial<Stripe.Invoice>

/** A subscription that started with the code ONCE, or with its replacement. */
function use(status: Status, given?: string, invoice?: Invoice): Stripe.Subscription {
  const metadata = { coupon: 'ONCE', ...(given ? { given_back: given } : {}) }
  return { status, metadata, discounts: [], latest_invoice: invoice ?? 'in_1' } as never
}

const applied = (code: string): Stripe.Subscription =>
  ({ status: 'active', metadata: {}, discounts: [{ promotion_code: code }] }) as never

const code = (id: string, used: number, active = used === 0): Stripe.PromotionCode =>
  ({ id, active, times_redeemed: used }) as never

const other = { status: 'active', metadata: { coupon: 'OTHER' }, discounts: [] } as never
const first: Invoice = { billing_reason: 'subscription_create', status: 'void' }
const lost = 'incomplete_expired'

describe('computeReplacementState(), which tells whether a promotion code needs a replacement', () => {
  it.each<[string, Stripe.PromotionCode[], Stripe.Subscription[], ReplacementState['is']]>([
    ['never used by the customer', [], [], 'nothing'],
    ['never used, beside another code that was', [], [other], 'nothing'],
    ['used and paid', [], [use('active')], 'nothing'],
    [
      'used by a subscription that was paid and has ended',
      [],
      [use('canceled', undefined, { ...first, status: 'used and paid' })],
      'nothing',
    ],
    ['used in a trial', [], [use('trialing')], 'nothing'],
    ['used, and not paid yet', [], [use('incomplete')], 'waiting'],
    ['used, and never paid', [], [use(lost)], 'lost'],
    [
      'used by a subscription cancelled before its first payment',
      [],
      [use('canceled', undefined, first)],
      'lost',
    ],
    [
      'used by a subscription cancelled after a later invoice was voided',
      [],
      [use('canceled', undefined, { ...first, billing_reason: 'subscription_cycle' })],
      'nothing',
    ],
    [
      'used twice: once never paid, once not paid yet',
      [],
      [use(lost), use('incomplete')],
      'waiting',
    ],
    ['used twice: once never paid, once paid', [], [use(lost), use('past_due')], 'nothing'],
    [
      'never paid, and later applied to a running subscription',
      [],
      [use(lost), applied('ONCE')],
      'nothing',
    ],
    ['replaced', [code('A', 0)], [use(lost)], 'given'],
    [
      'replaced after three failed payments',
      [code('A', 0)],
      [use(lost), use(lost), use(lost)],
      'given',
    ],
    [
      'replaced, and then paid with the original code',
      [code('A', 0)],
      [use(lost), use('active')],
      'nothing',
    ],
    ['replaced by a code that was switched off', [code('A', 0, false)], [use(lost)], 'nothing'],
    [
      'replaced by a code that is used, and not paid yet',
      [code('A', 1)],
      [use(lost), use('incomplete', 'A')],
      'waiting',
    ],
    [
      'replaced by a code that was paid',
      [code('A', 1)],
      [use(lost), use('active', 'A')],
      'nothing',
    ],
    [
      'replaced by a code that was applied to a running subscription',
      [code('A', 1)],
      [use(lost), applied('A')],
      'nothing',
    ],
    [
      'replaced by a code whose discount was removed again',
      [code('A', 1)],
      [use(lost), use(lost)],
      'nothing',
    ],
    [
      'replaced by a code that was never paid either',
      [code('A', 1)],
      [use(lost), use(lost, 'A')],
      'lost',
    ],
    [
      'replaced twice, and the newest replacement was used',
      [code('B', 1), code('A', 1)],
      [use(lost), use(lost, 'A')],
      'nothing',
    ],
  ])(
    'returns the right state for a single-use code that was %s',
    (_name, given, subscriptions, expected) => {
      expect(computeReplacementState('ONCE', given, subscriptions).is).toBe(expected)
    },
  )
})
