import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import {
  type FlowTest,
  START,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  type BillableUser,
  BillingError,
  InvalidArgument,
  isBillingError,
  money,
  PaymentActionRequired,
  PaymentFailed,
  ProviderUnavailable,
  TooManyAttempts,
  UnknownCoupon,
  Unsupported,
} from '../../../index.ts'

const TOMORROW = START.getTime() / 1000 + 86_400

type Terms = Partial<Stripe.PromotionCodeCreateParams>

async function makeCode(test: FlowTest, code: string, terms: Terms = {}): Promise<void> {
  const stripe = await stripeSdk(test)
  await stripe.promotionCodes.create({
    code,
    promotion: { type: 'coupon', coupon: 'SPRING' },
    ...terms,
  })
}

async function startWith(code: string, terms: Terms = {}): Promise<FlowTest> {
  const test = await start('stripe', { coupon: true })
  await makeCode(test, code, terms)
  return test
}

const create = (user: BillableUser, code: string, card = 'pm_card_visa') =>
  user.newSubscription('main', 'monthly').withPromotionCode(code).create(card)

/** Returns the visible parts of the refusal of a code. */
async function refusal(asked: Promise<unknown>) {
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!isBillingError(error, 'promotion_code_refused')) throw error
  const { message, reason, providerCode, status } = error
  return { message, reason, providerCode, status }
}

const UNKNOWN = {
  message: 'This code cannot be used',
  reason: 'unknown',
  providerCode: null,
  status: 400,
}

describe('a promotion code', () => {
  it('causes the hosted page it was applied on to expire once other customers have used up the code', async () => {
    const test = await startWith('ONCE', { max_redemptions: 1 })
    const { user } = test
    const page = { name: 'main', successPath: '/done' }
    const withCode = () => user.checkout('monthly', { ...page, promotionCode: 'ONCE' })
    const { id } = await withCode()
    expect((await withCode()).id).toBe(id)
    await create(await test.createUser(), 'ONCE')
    expect(await refusal(withCode())).toEqual(UNKNOWN)
    expect(await user.findCheckout(id)).toMatchObject({ status: 'expired' })
    expect(await refusal(withCode())).toEqual(UNKNOWN)
    const another = await user.checkout('monthly', page)
    test.sandbox.stripe.completeCheckout(another.id)
    await user.completeCheckout(another.id)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('can be looked up with its terms by a user who types it', async () => {
    const test = await startWith('Hello-7', {
      expires_at: TOMORROW,
      max_redemptions: 5,
      restrictions: {
        first_time_transaction: true,
        minimum_amount: 500,
        minimum_amount_currency: 'usd',
      },
    })
    const found = await test.user.findPromotionCode('  hello-7 ')
    expect(found).toEqual({
      id: expect.stringMatching(/^promo_/),
      code: 'Hello-7',
      discount: {
        coupon: 'SPRING',
        name: 'SPRING',
        percentOff: null,
        amountOff: money(300, 'usd'),
        bills: 1,
        months: null,
      },
      expiresAt: new Date(TOMORROW * 1000),
      isFirstTimeOnly: true,
      minimum: money(500, 'usd'),
      left: 5,
    })
  })

  it('reduces the first invoice of a subscription, and of a hosted page', async () => {
    const test = await startWith('HELLO')
    await create(test.user, 'hello')
    expect(sumChargedCents(test, test.user)).toBe(700)
    const page = { successPath: '/done' }
    for (const isBuilder of [true, false]) {
      const user = await test.createUser()
      const { id } = isBuilder
        ? await user.newSubscription('main', 'monthly').withPromotionCode('HELLO').checkout(page)
        : await user.checkout('monthly', { ...page, promotionCode: 'HELLO' })
      test.sandbox.stripe.completeCheckout(id)
      await user.completeCheckout(id)
      expect(sumChargedCents(test, user)).toBe(700)
    }
  })

  it('replaces the current discounts, and is redeemed once by repeated calls', async () => {
    const test = await startWith('ONCE', { max_redemptions: 1 })
    const { user } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const subscription = await user.subscription('main')
    const stripe = await stripeSdk(test)
    await stripe.coupons.create({ id: 'OTHER', percent_off: 50, duration: 'forever' })
    await subscription.applyCoupon('OTHER')
    expect(await subscription.discounts()).toMatchObject([{ coupon: 'OTHER', percentOff: 50 }])
    await Promise.all(Array.from({ length: 5 }, () => subscription.applyPromotionCode('once')))
    expect(await subscription.discounts()).toMatchObject([{ coupon: 'SPRING' }])
    await subscription.removeDiscounts()
    await subscription.removeDiscounts()
    expect(await subscription.discounts()).toEqual([])
    expect(await refusal(subscription.applyPromotionCode('ONCE'))).toEqual(UNKNOWN)
    await expect(subscription.applyCoupon('NONE')).rejects.toThrow(UnknownCoupon)
    await subscription.applyCoupon('SPRING')
    await test.advance({ days: 32 })
    expect(sumChargedCents(test, user)).toBe(1700)
  })

  it('is not redeemed a second time when a payment waits for authentication', async () => {
    const test = await startWith('ONCE', { max_redemptions: 1 })
    const challenged = 'pm_card_authenticationRequired'
    await expect(create(test.user, 'ONCE', challenged)).rejects.toThrow(PaymentActionRequired)
    await expect(create(test.user, 'ONCE', challenged)).rejects.toThrow(PaymentActionRequired)
    expect(test.sandbox.stripe.subscriptions(test.user.providerId ?? '')).toHaveLength(1)
  })

  it.each(LOSSES)('is redeemed once when responses are lost (kind of failure: %s)', async (how) => {
    const test = await start('stripe', { coupon: true, webhooks: false })
    let wasHit = true
    for (let call = 0; wasHit && call < 20; call++) {
      const user = await test.createUser()
      await user.newSubscription('main', 'monthly').create('pm_card_visa')
      const code = `ONCE-${call}`
      await makeCode(test, code, { max_redemptions: 1 })
      const other = await (await createImpatientBilling(test).user(user.id)).subscription('main')
      loseResponse(test, 'stripe', { after: call, how })
      const failed = await other.applyPromotionCode(code).then(
        () => null,
        (error: unknown) => error,
      )
      wasHit = test.sandbox.trouble.takeCallTrouble('stripe') === null
      test.sandbox.trouble.clear()
      const subscription = await user.subscription('main')
      if (failed) {
        expect(failed).toBeInstanceOf(ProviderUnavailable)
        await subscription.applyPromotionCode(code)
      }
      expect(await subscription.discounts(), `call ${call}`).toMatchObject([{ coupon: 'SPRING' }])
    }
    expect(wasHit).toBe(false)
  })
})

/** Cards with which a first payment is never made. */
const NEVER_PAID = ['pm_card_chargeCustomerFail', 'pm_card_authenticationRequired'] as const

describe.each(NEVER_PAID)(
  'a single-use promotion code, after a failed first payment with the card %s (threat N3),',
  (card) => {
    async function neverPaid(terms: Terms = {}) {
      const test = await startWith('ONCE', { max_redemptions: 1, ...terms })
      await expect(create(test.user, 'ONCE', card)).rejects.toThrow(BillingError)
      return test
    }

    it('can be used with another card, after any number of attempts', async () => {
      const test = await neverPaid()
      const { user } = test
      await expect(create(user, 'ONCE', 'pm_card_chargeCustomerFail')).rejects.toThrow(
        PaymentFailed,
      )
      expect(await user.findPromotionCode('once')).toMatchObject({ code: 'ONCE', left: 1 })
      const preview = await user
        .newSubscription('main', 'monthly')
        .withPromotionCode('ONCE')
        .preview()
      expect(preview.now.total.amount).toBe(700)
      await create(user, 'ONCE')
      await test.settle()
      expect(sumChargedCents(test, user)).toBe(700)
    })

    it('can be used for another plan, and on a hosted page', async () => {
      const test = await neverPaid()
      const { user } = test
      const page = { name: 'main', successPath: '/done', promotionCode: 'ONCE' }
      const { id } = await user.checkout('pro', page)
      test.sandbox.stripe.completeCheckout(id)
      await user.completeCheckout(id)
      expect(sumChargedCents(test, user)).toBe(2200)
    })

    it('gives its discount only once, and to no other user', async () => {
      const test = await neverPaid()
      const { user } = test
      const names = ['main', 'second', 'third', 'fourth']
      const made = await Promise.allSettled(
        names.map((name) =>
          user.newSubscription(name, 'monthly').withPromotionCode('ONCE').create('pm_card_visa'),
        ),
      )
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const subscription = (await user.subscriptions()).find((each) => each.valid())
      await subscription?.removeDiscounts()
      const again = () => subscription?.applyPromotionCode('ONCE') ?? Promise.resolve()
      expect(await refusal(again())).toEqual(UNKNOWN)
      expect(await user.findPromotionCode('ONCE')).toBeNull()
      const friend = await test.createUser()
      expect(await refusal(create(friend, 'ONCE'))).toEqual(UNKNOWN)
      expect(sumChargedCents(test, user)).toBe(700)
    })

    it('keeps its terms, such as a minimum amount', async () => {
      const least = { minimum_amount: 2000, minimum_amount_currency: 'usd' }
      const test = await startWith('ONCE', { max_redemptions: 1, restrictions: least })
      const { user } = test
      const pro = user.newSubscription('main', 'pro').withPromotionCode('ONCE')
      await expect(pro.create(card)).rejects.toThrow(BillingError)
      expect(await refusal(create(user, 'ONCE'))).toMatchObject({ reason: 'below_minimum' })
      await pro.create('pm_card_visa')
      expect(sumChargedCents(test, user)).toBe(2200)
    })

    it('is invalid once it has expired, or its coupon was deleted', async () => {
      const test = await neverPaid({ expires_at: TOMORROW })
      await test.advance({ days: 2 })
      expect(await test.user.findPromotionCode('ONCE')).toBeNull()
      expect(await refusal(create(test.user, 'ONCE'))).toEqual(UNKNOWN)
      const other = await neverPaid()
      await (await stripeSdk(other)).coupons.del('SPRING')
      expect(await refusal(create(other.user, 'ONCE'))).toEqual(UNKNOWN)
    })
  },
)

describe('the check of a promotion code', () => {
  it.each<[string, Terms | null]>([
    ['it does not exist', null],
    ['it is switched off', { active: false }],
    ['it is expired', { expires_at: TOMORROW }],
    ["it is another customer's", { customer: 'other' }],
    [
      "it is another customer's, and for a first order",
      { customer: 'other', restrictions: { first_time_transaction: true } },
    ],
    ['it is used up', { max_redemptions: 1 }],
  ])(
    'refuses an unusable code with the same error for every reason (here: %s)',
    async (_why, terms) => {
      const test = await start('stripe', { coupon: true })
      const { user } = test
      await user.newSubscription('main', 'monthly').create('pm_card_visa')
      const friend = await test.createUser()
      await friend.updateCard('pm_card_visa')
      if (terms) {
        const customer = terms.customer && { customer: friend.providerId ?? '' }
        await makeCode(test, 'SECRET', { ...terms, ...customer })
        if (terms.max_redemptions) await create(friend, 'SECRET')
      }
      await test.advance({ days: 2 })
      expect(await user.findPromotionCode('SECRET')).toBeNull()
      const subscription = await user.subscription('main')
      const other = user.newSubscription('other', 'monthly').withPromotionCode('SECRET')
      for (const asked of [
        () => subscription.applyPromotionCode('SECRET'),
        () => other.create(),
        () => other.checkout({ successPath: '/done' }),
      ]) {
        expect(await refusal(asked())).toEqual(UNKNOWN)
      }
      expect(await user.findSubscription('other')).toBeNull()
    },
  )

  it('gives the reason of a refusal if the user may know that the code exists', async () => {
    const test = await startWith('FIRST', { restrictions: { first_time_transaction: true } })
    const { user } = test
    const least = { minimum_amount: 1001, minimum_amount_currency: 'usd' }
    await makeCode(test, 'BIG', { restrictions: least })
    const stripe = await stripeSdk(test)
    await stripe.coupons.create({
      id: 'EUR',
      amount_off: 100,
      currency: 'eur',
      duration: 'forever',
    })
    const promotion = { type: 'coupon', coupon: 'EUR' } as const
    await stripe.promotionCodes.create({ code: 'EURO', promotion })
    expect(await refusal(create(user, 'BIG'))).toMatchObject({ reason: 'below_minimum' })
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const subscription = await user.subscription('main')
    const reasons = []
    for (const code of ['FIRST', 'BIG', 'EURO']) {
      reasons.push((await refusal(subscription.applyPromotionCode(code))).reason)
    }
    expect(reasons).toEqual(['not_first_time', 'below_minimum', 'not_applicable'])
    expect(await subscription.discounts()).toEqual([])
  })

  it('allows ten unusable codes per hour, and does not count usable ones', async () => {
    const test = await startWith('HELLO')
    const { user } = test
    const guess = () => user.findPromotionCode('GUESS')
    for (let times = 0; times < 10; times++) {
      expect(await user.findPromotionCode('HELLO')).not.toBeNull()
      expect(await guess()).toBeNull()
    }
    await test.advance({ minutes: 20 })
    const refused = await guess().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(TooManyAttempts)
    expect(refused).toMatchObject({ status: 429, retryAfter: 2400 })
    // The limit covers all calls with codes, usable or not.
    await expect(create(user, 'HELLO')).rejects.toThrow(TooManyAttempts)
    const page = user.checkout('monthly', { successPath: '/done', promotionCode: 'HELLO' })
    await expect(page).rejects.toThrow(TooManyAttempts)
    expect(await (await test.createUser()).findPromotionCode('GUESS')).toBeNull()
    await test.advance({ minutes: 40 })
    expect(await guess()).toBeNull()
  })

  it('does not count an attempt if the provider does not respond', async () => {
    const test = await start('stripe', { coupon: true, codeAttempts: { limit: 2 } })
    await makeCode(test, 'HELLO')
    const { user, sandbox } = test
    for (let times = 0; times < 3; times++) {
      sandbox.trouble.failNext(1, '500', 'stripe')
      await expect(user.findPromotionCode('HELLO')).rejects.toThrow(ProviderUnavailable)
      sandbox.trouble.failNext(1, '500', 'stripe')
      await expect(create(user, 'HELLO')).rejects.toThrow(ProviderUnavailable)
    }
    expect(await user.findPromotionCode('GUESS')).toBeNull()
    expect(await user.findPromotionCode('HELLO')).not.toBeNull()
  })

  it.each([
    { terms: { duration: 'once' }, bills: 1, months: null },
    { terms: { duration: 'repeating', duration_in_months: 3 }, bills: null, months: 3 },
    { terms: { duration: 'forever' }, bills: null, months: null },
  ] as const)('returns how long the discount applies, for a coupon with $terms', async (given) => {
    const test = await start('stripe')
    const stripe = await stripeSdk(test)
    await stripe.coupons.create({ id: 'HALF', percent_off: 50, ...given.terms })
    await makeCode(test, 'HALF', { promotion: { type: 'coupon', coupon: 'HALF' } })
    const found = await test.user.findPromotionCode('HALF')
    expect(found?.discount).toMatchObject({ bills: given.bills, months: given.months })
    const subscription = await test.user.newSubscription('main', 'monthly').create('pm_card_visa')
    await subscription.applyPromotionCode('HALF')
    const [active, ...others] = await subscription.discounts()
    expect(others).toEqual([])
    expect(active).toMatchObject({ percentOff: 50, billsLeft: given.bills })
    expect(active?.endsAt).toEqual(given.months ? new Date('2026-04-15T10:00:00Z') : null)
    await test.advance({ months: 1, hours: 2 })
    expect(await subscription.discounts()).toHaveLength(given.bills === 1 ? 0 : 1)
  })

  it('rejects a code that is not text, or that is combined with a coupon', async () => {
    const { user } = await startWith('HELLO')
    const builder = user.newSubscription('main', 'monthly')
    expect(() => builder.withPromotionCode('  ')).toThrow(InvalidArgument)
    await expect(user.findPromotionCode(7 as never)).rejects.toThrow(InvalidArgument)
    const both = builder.withCoupon('SPRING').withPromotionCode('HELLO').create('pm_card_visa')
    await expect(both).rejects.toThrow(InvalidArgument)
    await expect(
      user.checkout('monthly', { successPath: '/done', promotionCode: 'A', coupon: 'SPRING' }),
    ).rejects.toThrow(InvalidArgument)
    expect(await user.findPromotionCode('../../customers')).toBeNull()
  })

  it('is unsupported at Braintree', async () => {
    const { user } = await start('braintree')
    const builder = user.newSubscription('main', 'monthly').withPromotionCode('HELLO')
    await expect(builder.create('fake-valid-nonce')).rejects.toThrow(Unsupported)
    expect(user.providerId).toBeNull()
  })
})
