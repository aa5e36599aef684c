import { describe, expect, it } from 'vitest'
import { createImpatientBilling, loseResponse } from '../../../../test/lost-answers.ts'
import { readSandboxState, readTableState } from '../../../../test/provider-truth.ts'
import { catchError } from '../../../../test/specification/no-calls.ts'
import {
  countProviderSubscriptions,
  type FlowTest,
  PROVIDERS,
  START,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  AlreadySubscribed,
  type BillableUser,
  isBillingError,
  PaymentActionRequired,
  PaymentFailed,
  type SubscriptionBuilder,
} from '../../../index.ts'

const DAY = 86_400_000
const day = (days: number) => new Date(START.getTime() + days * DAY)
const FEBRUARY = new Date('2026-02-01T00:00:00Z')

type Build = (builder: SubscriptionBuilder) => SubscriptionBuilder
const plain: Build = (builder) => builder

const begin = (user: BillableUser, plan = 'monthly') => user.newSubscription('main', plan)

/**
 * Stripe with two coupons, a promotion code for each, and a further price; Braintree with two
 * discounts and an add-on.
 */
async function startTaken(provider: 'stripe' | 'braintree'): Promise<FlowTest> {
  const test = await start(provider, { coupon: true, webhooks: false })
  const { stripe, braintree } = test.sandbox
  stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'Extras' })
  braintree.defineAddOn({ id: 'seat', amount: 500 })
  braintree.defineDiscount({ id: 'FALL', amount: 100, numberOfBillingCycles: 2 })
  const sdk = await stripeSdk(test)
  await sdk.coupons.create({ id: 'FALL', percent_off: 10, duration: 'forever' })
  for (const [code, coupon] of [
    ['FRIENDS', 'SPRING'],
    ['FAMILY', 'FALL'],
  ] as const) {
    await sdk.promotionCodes.create({ code, promotion: { type: 'coupon', coupon } })
  }
  return test
}

/** Returns the present state, after checking that the rows match the provider. */
async function readCheckedState(test: FlowTest) {
  const { user, sandbox, database } = test
  const { provider, providerId, cardLastFour } = await test.billing.user(user.id)
  const truth = readSandboxState(sandbox, provider, providerId ?? '')
  expect(await readTableState(database, user.id)).toEqual(truth)
  return {
    truth,
    cardLastFour,
    taken: sumChargedCents(test, user),
    count: countProviderSubscriptions(test, user),
  }
}

async function catchAlreadySubscribed(act: () => Promise<unknown>): Promise<AlreadySubscribed> {
  const error = await catchError(act)
  expect(error).toBeInstanceOf(AlreadySubscribed)
  expect(error).toMatchObject({ code: 'already_subscribed', status: 409 })
  return error as AlreadySubscribed
}

interface Case {
  readonly name: string
  readonly first?: Build
  readonly again: Build
  readonly terms: readonly string[]
  readonly plan?: string
  readonly only?: 'stripe'
}

const OTHERS: readonly Case[] = [
  { name: 'another plan', again: plain, plan: 'pro', terms: ['plan'] },
  { name: 'a coupon', again: (b) => b.withCoupon('SPRING'), terms: ['coupon'] },
  { name: 'a coupon that does not exist', again: (b) => b.withCoupon('NONE'), terms: ['coupon'] },
  {
    name: 'another coupon',
    first: (b) => b.withCoupon('SPRING'),
    again: (b) => b.withCoupon('FALL'),
    terms: ['coupon'],
  },
  {
    name: 'no coupon, while one is in force',
    first: (b) => b.withCoupon('FALL'),
    again: plain,
    terms: ['coupon'],
  },
  { name: 'a trial', again: (b) => b.trialDays(10), terms: ['trial'] },
  {
    name: 'a longer trial',
    first: (b) => b.trialDays(10),
    again: (b) => b.trialDays(20),
    terms: ['trial'],
  },
  {
    name: 'no trial, while one runs',
    first: (b) => b.trialDays(10),
    again: (b) => b.skipTrial(),
    terms: ['trial'],
  },
  { name: 'a further price', again: (b) => b.price('seat', 2), terms: ['price'] },
  { name: 'a missing price', first: (b) => b.price('seat', 2), again: plain, terms: ['price'] },
  {
    name: 'several different terms',
    again: (b) => b.price('seat').withCoupon('SPRING').trialDays(3),
    terms: ['price', 'coupon', 'trial'],
  },
  { name: 'a higher quantity', again: (b) => b.quantity(3), terms: ['quantity'], only: 'stripe' },
  {
    name: 'a promotion code',
    again: (b) => b.withPromotionCode('FRIENDS'),
    terms: ['promotionCode'],
    only: 'stripe',
  },
  {
    name: 'another promotion code',
    first: (b) => b.withPromotionCode('FRIENDS'),
    again: (b) => b.withPromotionCode('FAMILY'),
    terms: ['promotionCode'],
    only: 'stripe',
  },
  {
    name: 'another end of the trial',
    first: (b) => b.trialUntil(day(10)),
    again: (b) => b.trialUntil(day(12)),
    terms: ['trial'],
    only: 'stripe',
  },
  {
    name: 'an anchor',
    again: (b) => b.anchorOn(FEBRUARY),
    terms: ['anchorOn'],
    only: 'stripe',
  },
  {
    name: 'noProrate()',
    first: (b) => b.anchorOn(FEBRUARY),
    again: (b) => b.anchorOn(FEBRUARY).noProrate(),
    terms: ['noProrate'],
    only: 'stripe',
  },
  {
    name: 'a backdated start',
    again: (b) => b.backdate(day(-9)),
    terms: ['backdate'],
    only: 'stripe',
  },
  {
    name: 'a tax chosen for the subscription',
    again: (b) => b.withTax('automatic'),
    terms: ['tax'],
    only: 'stripe',
  },
]

const SAME: readonly { name: string; build: Build; only?: 'stripe' }[] = [
  { name: 'the plan alone', build: plain },
  { name: 'a coupon for one invoice', build: (b) => b.withCoupon('SPRING') },
  { name: 'a coupon', build: (b) => b.withCoupon('FALL') },
  { name: 'a trial', build: (b) => b.trialDays(10) },
  { name: 'a further price', build: (b) => b.price('seat', 2) },
  { name: 'a promotion code', build: (b) => b.withPromotionCode('FRIENDS'), only: 'stripe' },
  { name: 'the end of a trial', build: (b) => b.trialUntil(day(10)), only: 'stripe' },
  {
    name: 'a trial and an anchor',
    build: (b) => b.trialDays(9).anchorOn(FEBRUARY),
    only: 'stripe',
  },
  { name: 'an anchor', build: (b) => b.anchorOn(FEBRUARY).noProrate(), only: 'stripe' },
  { name: 'a backdated start', build: (b) => b.backdate(day(-9)), only: 'stripe' },
  {
    name: 'a tax chosen for the subscription',
    build: (b) => b.withTax('percentage'),
    only: 'stripe',
  },
  { name: 'no card', build: (b) => b.trialDays(10).withoutCard(), only: 'stripe' },
]

describe.each(PROVIDERS)(
  'create() under the name of an existing subscription at $provider (threat Q2)',
  (given) => {
    const { provider, card, otherCard, declined } = given
    const isHere = ({ only = provider }: { readonly only?: string }) => only === provider
    /** A new token for the same card. */
    const freshToken = provider === 'stripe' ? 'tok_visa' : 'fake-valid-nonce'

    it.each(OTHERS.filter(isHere))(
      'rejects $name, and reports the differing term',
      async (each) => {
        const { first = plain, again, plan, terms } = each
        const test = await startTaken(provider)
        const { user } = test
        await first(begin(user)).create(card)
        const before = await readCheckedState(test)
        const error = await catchAlreadySubscribed(() => again(begin(user, plan)).create(card))
        expect(error.terms.map(({ term }) => term)).toEqual(terms)
        for (const { inForce, use } of error.terms) {
          expect(error.message).toContain(inForce)
          expect(error.message).toContain(use)
        }
        const previewed = await catchAlreadySubscribed(() => again(begin(user, plan)).preview())
        expect(previewed.terms).toEqual(error.terms)
        expect(await readCheckedState(test)).toEqual(before)
      },
    )

    it.each(SAME.filter(isHere))(
      'returns the existing subscription for the same terms: $name',
      async ({ build }) => {
        const test = await startTaken(provider)
        const { user } = test
        const made = await build(begin(user)).create(card)
        const before = await readCheckedState(test)
        for (const token of [card, freshToken, null]) {
          expect((await build(begin(user)).create(token)).providerId).toBe(made.providerId)
        }
        const { now, next } = await build(begin(user)).preview()
        expect([now.total.amount, now.lines]).toEqual([0, []])
        expect(next?.total).toEqual((await made.upcomingInvoice())?.total)
        expect(await readCheckedState(test)).toEqual(before)
      },
    )

    it('rejects a token of another card, and accepts it once updateCard() has made that card the default', async () => {
      const test = await startTaken(provider)
      const { user } = test
      const made = await begin(user).create(card)
      const before = await readCheckedState(test)
      const error = await catchAlreadySubscribed(() => begin(user).create(otherCard))
      expect(error.terms).toMatchObject([{ term: 'card', use: 'updateCard()' }])
      expect(error.message).toContain(user.cardLastFour)
      expect(await readCheckedState(test)).toEqual(before)
      await user.updateCard(otherCard)
      expect((await begin(user).create(otherCard)).providerId).toBe(made.providerId)
      await catchAlreadySubscribed(() => begin(user).create(card))
    })

    it('rejects an unknown payment token', async () => {
      const { user } = await startTaken(provider)
      await begin(user).create(card)
      const error = await catchError(() => begin(user).create(given.unknownToken))
      expect(error).toMatchObject({ code: 'invalid_payment_token' })
      // The different plan is reported first: another token would not help.
      await catchAlreadySubscribed(() => begin(user, 'pro').create(given.unknownToken))
    })

    it('accepts the same trial days while the trial is running, and rejects them afterwards', async () => {
      const test = await startTaken(provider)
      const made = await begin(test.user).trialDays(10).create(card)
      await test.advance({ days: 2 })
      const again = await begin(test.user).trialDays(10).create(card)
      expect([again.providerId, again.trialEndsAt]).toEqual([made.providerId, made.trialEndsAt])
      await test.advance({ days: 9 })
      const error = await catchAlreadySubscribed(() => begin(test.user).trialDays(10).create())
      expect(error.terms).toMatchObject([{ term: 'trial', inForce: 'none', wanted: '10 days' }])
      expect((await begin(test.user).create()).providerId).toBe(made.providerId)
      expect(sumChargedCents(test, test.user)).toBe(1000)
    })

    it('replaces a subscription whose first payment failed, with any terms', async () => {
      const test = await startTaken(provider)
      const { user } = test
      expect(await catchError(() => begin(user).create(declined))).toBeInstanceOf(PaymentFailed)
      const preview = await begin(user, 'pro').withCoupon('SPRING').preview()
      const made = await begin(user, 'pro').withCoupon('SPRING').create(card)
      expect(made.providerPlan).toBe('pro')
      expect([sumChargedCents(test, user), preview.now.total.amount]).toEqual([2200, 2200])
    })

    it('rejects one of two concurrent calls with different terms', async () => {
      const test = await startTaken(provider)
      const { user } = test
      const other = await test.another().user(user.id)
      const clicks = [
        begin(user).withCoupon('SPRING').create(card),
        begin(other).withCoupon('FALL').create(card),
      ]
      const outcomes = await Promise.allSettled(clicks)
      const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      expect(refused).toMatchObject([{ code: 'already_subscribed', terms: [{ term: 'coupon' }] }])
      expect(countProviderSubscriptions(test, await test.billing.user(user.id))).toBe(1)
    })

    it('finds the subscription when it is repeated after a lost response, and rejects other terms', async () => {
      const test = await startTaken(provider)
      const billing = createImpatientBilling(test)
      const build = (user: BillableUser) => begin(user).withCoupon('SPRING').trialDays(10)
      let isLost = false
      for (let after = 0; !isLost; after++) {
        const user = await billing.user((await test.createUser()).id)
        await user.updateCard(card)
        loseResponse(test, provider, { after, how: 'half-written' })
        expect(await catchError(() => build(user).create())).toMatchObject({ status: 503 })
        isLost = countProviderSubscriptions(test, user) > 0
        if (!isLost) continue
        const error = await catchAlreadySubscribed(() => begin(user).create())
        expect(error.terms.map(({ term }) => term)).toEqual(['coupon', 'trial'])
        expect((await build(user).create()).onTrial()).toBe(true)
        expect(countProviderSubscriptions(test, user)).toBe(1)
      }
    })
  },
)

describe('create() under the name of an existing subscription at Stripe (threat Q2)', () => {
  it('rejects an unknown promotion code before it compares any terms', async () => {
    const { user } = await startTaken('stripe')
    await begin(user).create('pm_card_visa')
    const asked = () => begin(user).withPromotionCode('NOBODY').create()
    expect(await catchError(asked)).toMatchObject({ code: 'promotion_code_refused' })
  })

  it('accepts a coupon that was applied to the subscription later, and rejects one that was removed', async () => {
    const { user } = await startTaken('stripe')
    const made = await begin(user).withCoupon('FALL').create('pm_card_visa')
    await made.applyCoupon('SPRING')
    await catchAlreadySubscribed(() => begin(user).withCoupon('FALL').create())
    expect((await begin(user).withCoupon('SPRING').create()).providerId).toBe(made.providerId)
    expect((await begin(user).create()).providerId).toBe(made.providerId)
    await made.removeDiscounts()
    for (const coupon of ['FALL', 'SPRING']) {
      await catchAlreadySubscribed(() => begin(user).withCoupon(coupon).create())
    }
  })

  it('compares the requested trial with the current trial, even if the current trial was moved or ended', async () => {
    const { user } = await startTaken('stripe')
    const made = await begin(user).trialDays(10).create('pm_card_visa')
    await made.extendTrial(day(20))
    await catchAlreadySubscribed(() => begin(user).trialDays(10).create())
    expect((await begin(user).trialDays(20).create()).providerId).toBe(made.providerId)
    await made.endTrial()
    await catchAlreadySubscribed(() => begin(user).trialDays(20).create())
    expect((await begin(user).create()).providerId).toBe(made.providerId)
  })

  it('rejects the original anchor date after a swap to another interval moved it', async () => {
    const { user } = await startTaken('stripe')
    const made = await begin(user).anchorOn(FEBRUARY).create('pm_card_visa')
    await (await made.swap('yearly')).swap('monthly')
    const error = await catchAlreadySubscribed(() => begin(user).anchorOn(FEBRUARY).create())
    expect(error.terms.map(({ term }) => term)).toEqual(['anchorOn'])
  })

  it('returns the same unconfirmed payment for the same terms, and a new payment for other terms', async () => {
    const test = await startTaken('stripe')
    const { user } = test
    const challenged = 'pm_card_authenticationRequired'
    const ask = async (build: Build) => {
      const error = await catchError(() => build(begin(user)).create(challenged))
      expect(error).toBeInstanceOf(PaymentActionRequired)
      return (error as PaymentActionRequired).payment.id
    }
    const plainly = await ask(plain)
    expect(await ask(plain)).toBe(plainly)
    // The option `tax` says the same, so this is not a different tax.
    expect(await ask((b) => b.withTax('percentage'))).toBe(plainly)
    const sdk = await stripeSdk(test)
    const rate = await sdk.taxRates.create({ display_name: 'T', percentage: 7, inclusive: false })
    const taxed = await ask((b) => b.withTax([rate.id]))
    expect(taxed).not.toBe(plainly)
    expect(await ask((b) => b.withTax([rate.id]))).toBe(taxed)
  })

  it('rejects the same terms if the subscription was cancelled, and recommends resume() or swap()', async () => {
    const { user } = await startTaken('stripe')
    const made = await begin(user).create('pm_card_visa')
    await made.cancel()
    const error = await catchAlreadySubscribed(() => begin(user).create())
    expect(error.terms).toMatchObject([{ term: 'cancellation', use: 'resume() or swap()' }])
    expect(isBillingError(error, 'already_subscribed') && error.terms).toHaveLength(1)
  })

  it('rejects a start that needs a card if the subscription was started without one', async () => {
    const { user } = await startTaken('stripe')
    await begin(user).trialDays(10).withoutCard().create()
    const error = await catchAlreadySubscribed(() => begin(user).trialDays(10).create())
    expect(error.terms).toMatchObject([{ term: 'card', inForce: 'none', use: 'updateCard()' }])
  })

  it('rejects other terms in preview() too, if the `trials.oncePerOwner` option is set', async () => {
    const test = await start('stripe', { webhooks: false, trials: { oncePerOwner: true } })
    await begin(test.user).trialDays(10).create('pm_card_visa')
    const { now } = await begin(test.user).trialDays(10).preview()
    expect(now.total.amount).toBe(0)
    await catchAlreadySubscribed(() => begin(test.user).trialDays(20).preview())
  })
})
