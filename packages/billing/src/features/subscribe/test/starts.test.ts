import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import {
  countProviderSubscriptions,
  type FlowTest,
  START,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  type BillableUser,
  InvalidArgument,
  NoPaymentMethod,
  PaymentActionRequired,
  ProviderRejected,
  ProviderUnavailable,
  type SubscriptionBuilder,
  Unsupported,
} from '../../../index.ts'

const CARD = 'pm_card_visa'
const DAY = 86_400_000
const day = (days: number) => new Date(START.getTime() + days * DAY)

/** January has 31 days; the test starts on the 15th at ten o'clock. */
const FEBRUARY = new Date('2026-02-01T00:00:00Z')
const share = (amount: number, from: Date, of = 31 * DAY) =>
  Math.round((amount * (FEBRUARY.getTime() - from.getTime())) / of)

/** Two hours later, because Stripe finalizes invoices after one hour. */
const after = (date: Date) => new Date(date.getTime() + 2 * 3_600_000)

async function startTwin(options: Parameters<typeof start>[1] = {}): Promise<FlowTest> {
  const test = await start('stripe', { webhooks: false, ...options })
  const { stripe } = test.sandbox
  stripe.seedPrice({ id: 'seat', unitAmount: 517, interval: 'month', product: 'Extras' })
  stripe.seedPrice({ id: 'free', unitAmount: 0, interval: 'month', product: 'Gold' })
  return test
}

const plan = ({ user }: FlowTest, price = 'monthly') => user.newSubscription('main', price)

describe('anchorOn()', () => {
  it.each([
    [
      'forever',
      { percent_off: 33.3, duration: 'forever' },
      (line: number) => Math.round(line * 0.333),
    ],
    ['once', { percent_off: 50, duration: 'once' }, (line: number) => Math.round(line * 0.5)],
  ] as const)(
    'charges a prorated amount until the anchor date, with quantities, tax and a coupon (duration: %s)',
    async (id, coupon, off) => {
      const test = await startTwin({ taxPercentage: () => 19.6 })
      const { user, sandbox } = test
      await (await stripeSdk(test)).coupons.create({ id, ...coupon })
      const builder = plan(test).quantity(3).price('seat').quantity(2, 'seat').withCoupon(id)
      const made = await builder.anchorOn(FEBRUARY).create(CARD)
      expect(await made.periodEndsAt()).toEqual(FEBRUARY)
      const sum = (lines: number[], less: (line: number) => number) =>
        lines
          .map((line) => line - less(line))
          .reduce((total, line) => total + line + Math.round(line * 0.196), 0)
      const first = sum([share(3000, START), share(1034, START)], off)
      expect(sumChargedCents(test, user)).toBe(first)
      await sandbox.clock.advanceTo(after(FEBRUARY))
      const whole = sum([3000, 1034], id === 'once' ? () => 0 : off)
      expect(sumChargedCents(test, user)).toBe(first + whole)
      expect(await user.subscribed('main')).toBe(true)
    },
  )

  it('starts for free with noProrate(), and charges on the anchor date', async () => {
    const test = await startTwin()
    await plan(test).anchorOn(FEBRUARY).noProrate().create(CARD)
    expect([await test.user.subscribed('main'), sumChargedCents(test, test.user)]).toEqual([
      true,
      0,
    ])
    await test.sandbox.clock.advanceTo(after(FEBRUARY))
    expect(sumChargedCents(test, test.user)).toBe(1000)
  })

  it('charges nothing during a trial, then a prorated amount until the anchor date, then whole periods', async () => {
    const test = await startTwin()
    const { user, sandbox } = test
    const made = await plan(test).trialDays(9).anchorOn(FEBRUARY).create(CARD)
    expect([made.onTrial(), sumChargedCents(test, user)]).toEqual([true, 0])
    await sandbox.clock.advanceTo(after(day(9)))
    expect(sumChargedCents(test, user)).toBe(share(1000, day(9)))
    await sandbox.clock.advanceTo(after(FEBRUARY))
    expect(sumChargedCents(test, user)).toBe(share(1000, day(9)) + 1000)
  })

  it('rejects a date more than one period away, and creates nothing', async () => {
    const test = await startTwin()
    await expect(plan(test).anchorOn(day(40)).create(CARD)).rejects.toThrow(ProviderRejected)
    await expect(plan(test).anchorOn(day(-1)).create(CARD)).rejects.toThrow(InvalidArgument)
    expect(countProviderSubscriptions(test, test.user)).toBe(0)
    await plan(test).anchorOn(FEBRUARY).create(CARD)
    expect(countProviderSubscriptions(test, test.user)).toBe(1)
  })

  it('leads to the same unconfirmed payment if it is repeated with the same date, and to a new payment with another date', async () => {
    const test = await startTwin()
    const card = 'pm_card_threeDSecureRequired'
    const ask = (date: Date) => plan(test).anchorOn(date).create(card)
    for (let i = 0; i < 2; i++) await expect(ask(FEBRUARY)).rejects.toThrow(PaymentActionRequired)
    expect(countProviderSubscriptions(test, test.user)).toBe(1)
    await expect(ask(day(20))).rejects.toThrow(PaymentActionRequired)
    await expect(plan(test).create(card)).rejects.toThrow(PaymentActionRequired)
    const all = test.sandbox.stripe.subscriptions(test.user.providerId ?? '')
    const gone = 'incomplete_expired'
    expect(all.map(({ status }) => status).sort()).toEqual(['incomplete', gone, gone])
  })

  it('works on a hosted page, without a trial', async () => {
    const test = await startTwin()
    const { user, sandbox } = test
    const page = { successPath: '/done' }
    const { id } = await plan(test).anchorOn(FEBRUARY).checkout(page)
    expect((await plan(test).anchorOn(FEBRUARY).checkout(page)).id).toBe(id)
    sandbox.stripe.completeCheckout(id)
    await user.completeCheckout(id)
    expect(sumChargedCents(test, user)).toBe(share(1000, START))
    const other = user.newSubscription('other', 'pro')
    const free = await other.anchorOn(FEBRUARY).noProrate().checkout(page)
    sandbox.stripe.completeCheckout(free.id)
    expect(await user.completeCheckout(free.id)).toMatchObject({ status: 'complete' })
    expect(await user.subscribed('other')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(share(1000, START))
    const trial = user.newSubscription('third', 'pro').trialDays(3).anchorOn(FEBRUARY)
    await expect(trial.checkout(page)).rejects.toThrow(InvalidArgument)
    const past = user.newSubscription('third', 'pro').backdate(day(-3))
    await expect(past.checkout(page)).rejects.toThrow(InvalidArgument)
    const payment = { ...page, mode: 'payment', anchorOn: FEBRUARY } as const
    await expect(user.checkout('monthly', payment)).rejects.toThrow(InvalidArgument)
  })

  it('rejects quantity() of a price that was not added', async () => {
    const builder = plan(await startTwin()).price('seat', 4)
    expect(() => builder.quantity(2, 'other')).toThrow(InvalidArgument)
    expect(() => builder.quantity(0, 'seat')).toThrow(InvalidArgument)
  })
})

describe('backdate() of a new subscription', () => {
  it('charges every period since the given start date, and the current one', async () => {
    const test = await startTwin({ taxPercentage: () => 10 })
    const { user } = test
    const began = new Date('2025-12-01T10:00:00Z')
    const made = await plan(test).quantity(2).backdate(began).create(CARD)
    // 15 November to 15 December has 30 days.
    const lines = [Math.round((2000 * 14) / 30), 2000, 2000]
    const total = lines.reduce((sum, line) => sum + line + Math.round(line * 0.1), 0)
    expect(sumChargedCents(test, user)).toBe(total)
    const raw = await (await stripeSdk(test)).subscriptions.retrieve(made.providerId)
    expect(new Date(raw.start_date * 1000)).toEqual(began)
    await test.sandbox.clock.advanceTo(after(new Date('2026-02-15T10:00:00Z')))
    expect(sumChargedCents(test, user)).toBe(total + 2200)
  })

  it('charges nothing for the past with noProrate()', async () => {
    const test = await startTwin()
    await plan(test).backdate(day(-100)).noProrate().create(CARD)
    expect(sumChargedCents(test, test.user)).toBe(1000)
  })

  it('can be combined with anchorOn()', async () => {
    const test = await startTwin()
    const december = new Date('2025-12-01T00:00:00Z')
    const made = await plan(test).backdate(december).anchorOn(FEBRUARY).create(CARD)
    expect([await made.periodEndsAt(), sumChargedCents(test, test.user)]).toEqual([FEBRUARY, 2000])
  })
})

describe('withoutCard()', () => {
  const cards = async ({ billing, user }: FlowTest) =>
    (await (await billing.user(user.id)).paymentMethods()).length

  it('starts a trial; if no card is added, the subscription ends with the trial and its name can be used again', async () => {
    const test = await start('stripe')
    const { user } = test
    const made = await plan(test).trialDays(9).withoutCard().create()
    expect([made.onTrial(), await cards(test), user.cardLastFour]).toEqual([true, 0, null])
    expect((await plan(test).trialDays(9).withoutCard().create()).providerId).toBe(made.providerId)
    await test.advance({ days: 10 })
    expect(await user.subscribed('main')).toBe(false)
    expect((await user.subscription('main')).ended()).toBe(true)
    expect(sumChargedCents(test, user)).toBe(0)
    await user.updateCard(CARD)
    await plan(test).create()
    expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([true, 1000])
  })

  it('starts a trial; if a card is added, the subscription continues after the trial', async () => {
    const test = await start('stripe')
    const { user } = test
    await plan(test).trialDays(9).withoutCard().create(null, { email: 'ada@example.com' })
    await test.advance({ days: 5 })
    await user.updateCard(CARD)
    await test.advance({ days: 5 })
    expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([true, 1000])
  })

  it('starts a free plan, which needs a card before a swap to a paid one', async () => {
    const test = await startTwin()
    const { user, sandbox } = test
    const made = await plan(test, 'free').withoutCard().create()
    await sandbox.clock.advance({ months: 2 })
    await user.sync()
    expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([true, 0])
    await expect(made.swapAndInvoice('pro')).rejects.toThrow(NoPaymentMethod)
    await expect(made.swap('pro')).rejects.toThrow(NoPaymentMethod)
    await expect(made.addPrice('seat')).rejects.toThrow(NoPaymentMethod)
    expect((await user.subscription('main')).providerPlan).toBe('free')
    await user.updateCard(CARD)
    await (await user.subscription('main')).swapAndInvoice('pro')
    expect(sumChargedCents(test, user)).toBe(2500)
  })

  it('rejects a subscription with a payment due now, and creates nothing', async () => {
    const test = await startTwin()
    const { user } = test
    for (const builder of [
      plan(test).withoutCard(),
      plan(test).withoutCard().anchorOn(FEBRUARY),
      plan(test, 'free').price('seat').withoutCard(),
    ]) {
      await expect(builder.create()).rejects.toThrow(NoPaymentMethod)
    }
    await expect(plan(test).trialDays(9).create()).rejects.toThrow(NoPaymentMethod)
    expect(countProviderSubscriptions(test, user)).toBe(0)
    await plan(test).withoutCard().create(CARD)
    expect([countProviderSubscriptions(test, user), sumChargedCents(test, user)]).toEqual([1, 1000])
  })

  it('works on a hosted page', async () => {
    const test = await startTwin()
    const { id } = await plan(test).trialDays(9).withoutCard().checkout({ successPath: '/done' })
    test.sandbox.stripe.completeCheckout(id)
    await test.user.completeCheckout(id)
    expect([await test.user.onTrial('main'), await cards(test)]).toEqual([true, 0])
  })
})

describe('a new subscription at Braintree', () => {
  it.each([
    ['anchors', (builder: SubscriptionBuilder) => builder.anchorOn(day(9))],
    ['backdating', (builder: SubscriptionBuilder) => builder.backdate(day(-9))],
    ['freeStarts', (builder: SubscriptionBuilder) => builder.trialDays(9).withoutCard()],
    ['anchors', (builder: SubscriptionBuilder) => builder.noProrate()],
  ])('is rejected if its start needs the capability %s', async (capability, terms) => {
    const { user, sandbox } = await start('braintree', { webhooks: false })
    const asked = terms(user.newSubscription('main', 'monthly')).create('fake-valid-visa-nonce')
    await expect(asked).rejects.toMatchObject({ code: 'unsupported', capability })
    await expect(asked).rejects.toThrow(Unsupported)
    expect(sandbox.braintree.customers()).toEqual([])
  })
})

/** Each kind of start, with the amount that is charged at once. */
const WAYS: readonly [string, (user: BillableUser) => Promise<unknown>, number][] = [
  [
    'anchorOn',
    (user) => user.newSubscription('main', 'monthly').anchorOn(FEBRUARY).create(CARD),
    share(1000, START),
  ],
  [
    'anchorOn, noProrate',
    (user) => user.newSubscription('main', 'monthly').anchorOn(FEBRUARY).noProrate().create(CARD),
    0,
  ],
  [
    'backdate',
    (user) =>
      user
        .newSubscription('main', 'monthly')
        .backdate(new Date('2025-12-15T10:00:00Z'))
        .create(CARD),
    2000,
  ],
  [
    'withoutCard',
    (user) => user.newSubscription('main', 'monthly').trialDays(9).withoutCard().create(),
    0,
  ],
]

describe.each(WAYS)('a subscription created with %s', (_name, begin, taken) => {
  it.each(LOSSES)(
    'creates one subscription, whichever response is lost (kind of failure: %s)',
    async (how) => {
      const test = await startTwin()
      const { sandbox } = test
      const billing = createImpatientBilling(test)
      for (let call = 0, wasHit = true; wasHit; call++) {
        const { id } = await test.createUser()
        loseResponse(test, 'stripe', { after: call, how })
        const failed = await begin(await billing.user(id)).then(
          () => null,
          (error: unknown) => error,
        )
        wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
        sandbox.trouble.clear()
        if (failed) {
          expect(failed).toBeInstanceOf(ProviderUnavailable)
          await begin(await billing.user(id))
        }
        const user = await test.billing.user(id)
        const made = [countProviderSubscriptions(test, user), sumChargedCents(test, user)]
        expect(made, `call ${call}`).toEqual([1, taken])
        expect(await user.subscribed('main')).toBe(true)
      }
    },
  )
})
