import {
  AlreadySubscribed,
  Busy,
  InvalidArgument,
  NoPaymentMethod,
  NoSubscription,
  PaymentFailed,
  PaymentMethodInUse,
  PaymentMethodNotFound,
  PaymentOverdue,
  PromotionCodeRefused,
  ProviderUnavailable,
  SubscriptionEnded,
  type SubscriptionTerm,
  TaxLocationUnknown,
  TooManyAttempts,
  UserNotFound,
} from '@tollgate/billing'
import { describe, expect, it } from 'vitest'
import { ENGLISH, textFor } from '../../../messages/messages.ts'
import { describeProblem } from './problems.ts'

const OF_STRIPE = { provider: 'stripe', providerCode: null } as const

describe('describeProblem(), which turns a billing error into a message,', () => {
  it.each([
    [new PaymentOverdue('Not paid'), 402],
    [new PaymentFailed('Declined', { ...OF_STRIPE, declineCode: null }), 402],
    [new NoSubscription('None'), 404],
    [new PaymentMethodNotFound('None'), 404],
    [new AlreadySubscribed('Twice'), 409],
    [new SubscriptionEnded('Over'), 409],
    [new PaymentMethodInUse('Paid by it'), 409],
    [new TaxLocationUnknown('No address', OF_STRIPE), 409],
    [new TooManyAttempts('Enough', { retryAfter: 60 }), 429],
    [new Busy('Later'), 503],
    [new ProviderUnavailable('Away', OF_STRIPE), 503],
  ])('returns the HTTP status of the billing error: %s with %i', (error, status) => {
    expect(describeProblem(error)?.status).toBe(status)
    expect(error.status).toBe(status)
  })

  it.each([
    new InvalidArgument('No'),
    new NoPaymentMethod('No'),
    new PromotionCodeRefused('No', { ...OF_STRIPE, reason: 'unknown' }),
  ])(
    'returns the status 422 for an invalid form, although the billing error has 400: %s',
    (error) => {
      expect(describeProblem(error)?.status).toBe(422)
      expect(error.status).toBe(400)
    },
  )

  it.each<[SubscriptionTerm[], string]>([
    [[], 'You can change the plan of your subscription further down on this page.'],
    [['plan'], 'You can change the plan of your subscription further down on this page.'],
    [['anchorOn'], 'You can change the plan of your subscription further down on this page.'],
    [['card'], 'You can add another card below, under “Payment methods”.'],
    [
      ['promotionCode', 'card'],
      'You can enter your promotion code further down on this page. You can add another card below, under “Payment methods”.',
    ],
    [['cancellation'], 'The subscription was cancelled; you can resume it below.'],
  ])('says where on the page %j of an existing subscription can be changed', (names, where) => {
    const terms = names.map((term) => ({ term, inForce: 'a', wanted: 'b', use: 'c()' }))
    const { message } = describeProblem(new AlreadySubscribed('Taken', { terms })) ?? {}
    expect(message).toBe(`You are subscribed already, so nothing was changed or charged. ${where}`)
  })

  it.each([
    [
      'insufficient_funds',
      'Your card has insufficient funds.',
      'Ihre Karte ist nicht ausreichend gedeckt.',
    ],
    ['do_not_honor', 'Stripe says no.', 'Ihre Karte wurde abgelehnt.'],
  ])(
    'gives the reason of a declined card in the language of the page: %s',
    (declineCode, en, de) => {
      const error = new PaymentFailed('Stripe says no', { ...OF_STRIPE, declineCode })
      expect(describeProblem(error, ENGLISH)?.message).toContain(en)
      expect(describeProblem(error, textFor(['de']))?.message).toContain(de)
    },
  )

  it('returns null for an unexpected error', () => {
    expect(describeProblem(new UserNotFound('None'))).toBeNull()
    expect(describeProblem(new Error('Oops'))).toBeNull()
  })
})
