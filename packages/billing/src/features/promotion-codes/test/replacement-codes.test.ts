import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { type FlowTest, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import {
  type BillableUser,
  PaymentActionRequired,
  PaymentFailed,
  PromotionCodeRefused,
} from '../../../index.ts'
import { callWithPromotionCode } from '../stripe-replacement-codes.ts'

const DECLINED = 'pm_card_chargeCustomerFail'
const CHALLENGED = 'pm_card_authenticationRequired'

async function startWith(terms: Partial<Stripe.PromotionCodeCreateParams> = {}) {
  const test = await start('stripe', { coupon: true, codeAttempts: { limit: 2 } })
  const stripe = await stripeSdk(test)
  const promotion = { type: 'coupon', coupon: 'SPRING' } as const
  const code = await stripe.promotionCodes.create({
    code: 'ONCE',
    promotion,
    max_redemptions: 1,
    ...terms,
  })
  return { test, user: test.user, stripe, code }
}

const begin = (user: BillableUser, name = 'main') =>
  user.newSubscription(name, 'monthly').withPromotionCode('once')

const create = (user: BillableUser, card = 'pm_card_visa') => begin(user).create(card)

async function decline(user: BillableUser, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    await expect(create(user, DECLINED)).rejects.toThrow(PaymentFailed)
  }
}

/** The id of the payment that the customer has to confirm. */
async function challenge(user: BillableUser, card: string): Promise<string> {
  const error = await create(user, card).catch((thrown: unknown) => thrown)
  if (error instanceof PaymentActionRequired) return error.payment.id
  throw error
}

const createdSubscriptionsOf = ({ sandbox, user }: FlowTest) =>
  sandbox.stripe.subscriptions(user.providerId ?? '').map(({ id, status }) => ({ id, status }))

describe('the replacement for a promotion code that a failed payment used up (threat N3)', () => {
  it('is reused with its pending payment until the customer confirms that payment', async () => {
    const { test, user } = await startWith()
    await challenge(user, CHALLENGED)
    const payment = await challenge(user, 'pm_card_threeDSecure2Required')
    const made = createdSubscriptionsOf(test)
    expect(made).toHaveLength(2)
    expect(await challenge(user, 'pm_card_threeDSecure2Required')).toBe(payment)
    expect(createdSubscriptionsOf(test)).toEqual(made)
    test.sandbox.stripe.completeAuthentication(payment)
    await test.settle()
    expect(sumChargedCents(test, user)).toBe(700)
  })

  it.each([DECLINED, CHALLENGED])(
    'is not created when the code is only looked up or previewed after a failed payment with the card %s',
    async (card) => {
      const { user, stripe } = await startWith()
      await expect(create(user, card)).rejects.toThrow()
      for (let times = 0; times < 4; times++) {
        expect(await user.findPromotionCode('ONCE')).toMatchObject({ code: 'ONCE', left: 1 })
        expect((await begin(user).preview()).now.total.amount).toBe(700)
      }
      expect((await stripe.promotionCodes.list()).data).toHaveLength(1)
    },
  )

  it('is created whatever error message Stripe sends for a used up code', async () => {
    const { user, stripe, code } = await startWith()
    await decline(user, 1)
    const said = Object.assign(new Error('No'), { type: 'StripeInvalidRequestError' })
    const typed = { coupon: code.id, customerId: user.providerId }
    const sent = await callWithPromotionCode<string>({ stripe } as never, typed, {
      make: async (given) => given ?? Promise.reject(said),
      find: async () => null,
    })
    expect(await stripe.promotionCodes.retrieve(sent)).toMatchObject({
      customer: user.providerId,
      metadata: { in_place_of: code.id },
    })
  })

  it('works on a hosted page, and the same page is returned when it is requested again', async () => {
    const { test, user } = await startWith()
    await decline(user, 1)
    const open = () => begin(user).checkout({ successPath: '/done' })
    const { id } = await open()
    expect((await open()).id).toBe(id)
    test.sandbox.stripe.completeCheckout(id)
    await user.completeCheckout(id)
    expect(sumChargedCents(test, user)).toBe(700)
  })

  it('has the terms of the original code', async () => {
    const { user, stripe, code } = await startWith({
      metadata: { campaign: 'spring' },
      restrictions: {
        minimum_amount: 500,
        minimum_amount_currency: 'usd',
        currency_options: { eur: { minimum_amount: 400 } },
      },
    })
    await decline(user, 1)
    await create(user)
    const { data } = await stripe.promotionCodes.list({
      customer: user.providerId ?? '',
      expand: ['data.restrictions.currency_options'],
    })
    expect(data).toMatchObject([
      {
        metadata: { campaign: 'spring', in_place_of: code.id },
        restrictions: {
          minimum_amount: 500,
          currency_options: { usd: { minimum_amount: 500 }, eur: { minimum_amount: 400 } },
        },
      },
    ])
  })

  it('exists only once at a time, however many payments have failed', async () => {
    const { user } = await startWith({ max_redemptions: 3 })
    await decline(user, 3)
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const subscription = await user.subscription('main')
    await subscription.applyPromotionCode('ONCE')
    expect(await subscription.discounts()).toHaveLength(1)
    await subscription.removeDiscounts()
    await expect(subscription.applyPromotionCode('ONCE')).rejects.toThrow(PromotionCodeRefused)
    await expect(begin(user, 'second').create()).rejects.toThrow(PromotionCodeRefused)
  })

  it('does not restart the duration of an applied discount', async () => {
    const { test, user, stripe } = await startWith()
    const coupon = 'MONTHS'
    const months = { duration: 'repeating', duration_in_months: 3 } as const
    await stripe.coupons.create({ id: coupon, percent_off: 50, ...months })
    const promotion = { type: 'coupon', coupon } as const
    await stripe.promotionCodes.create({ code: 'LONG', promotion, max_redemptions: 3 })
    const long = user.newSubscription('main', 'monthly').withPromotionCode('LONG')
    for (let times = 0; times < 3; times++) {
      await expect(long.create(DECLINED)).rejects.toThrow(PaymentFailed)
    }
    const subscription = await long.create('pm_card_visa')
    const before = await subscription.discounts()
    await test.advance({ months: 1, hours: 2 })
    await subscription.applyPromotionCode('LONG')
    expect(await subscription.discounts()).toEqual(before)
  })
})
