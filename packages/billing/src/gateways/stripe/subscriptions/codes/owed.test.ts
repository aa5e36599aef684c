import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { type Owed, owedOf } from './owed.ts'

type Status = Stripe.Subscription.Status
type Invoice = Partial<Stripe.Invoice>

/** One that began with ONCE, or with a code in its place. */
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

describe('what a customer has of a code that is used up', () => {
  it.each<[string, Stripe.PromotionCode[], Stripe.Subscription[], Owed['is']]>([
    ['never used by them', [], [], 'nothing'],
    ['another code', [], [other], 'nothing'],
    ['paid', [], [use('active')], 'nothing'],
    ['paid, and over', [], [use('canceled', undefined, { ...first, status: 'paid' })], 'nothing'],
    ['in a trial', [], [use('trialing')], 'nothing'],
    ['not paid yet', [], [use('incomplete')], 'waiting'],
    ['never paid', [], [use(lost)], 'lost'],
    ['never paid, and cancelled', [], [use('canceled', undefined, first)], 'lost'],
    [
      'cancelled when a later bill was void',
      [],
      [use('canceled', undefined, { ...first, billing_reason: 'subscription_cycle' })],
      'nothing',
    ],
    ['never paid, and another time not yet', [], [use(lost), use('incomplete')], 'waiting'],
    ['never paid, and another time paid', [], [use(lost), use('past_due')], 'nothing'],
    ['never paid, and applied', [], [use(lost), applied('ONCE')], 'nothing'],
    ['given back', [code('A', 0)], [use(lost)], 'given'],
    ['given back after many', [code('A', 0)], [use(lost), use(lost), use(lost)], 'given'],
    ['given back, and paid by the first', [code('A', 0)], [use(lost), use('active')], 'nothing'],
    ['given back, and switched off', [code('A', 0, false)], [use(lost)], 'nothing'],
    [
      'given back, and not paid yet',
      [code('A', 1)],
      [use(lost), use('incomplete', 'A')],
      'waiting',
    ],
    ['given back, and paid', [code('A', 1)], [use(lost), use('active', 'A')], 'nothing'],
    ['given back, and applied', [code('A', 1)], [use(lost), applied('A')], 'nothing'],
    ['given back, and taken off again', [code('A', 1)], [use(lost), use(lost)], 'nothing'],
    ['given back, and never paid', [code('A', 1)], [use(lost), use(lost, 'A')], 'lost'],
    [
      'given back twice, and used',
      [code('B', 1), code('A', 1)],
      [use(lost), use(lost, 'A')],
      'nothing',
    ],
  ])('%s', (_name, given, subscriptions, expected) => {
    expect(owedOf('ONCE', given, subscriptions).is).toBe(expected)
  })
})
