import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import {
  BASE_URL,
  countProviderCustomers,
  type FlowTest,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  AlreadySubscribed,
  type BillableUser,
  type Billing,
  CheckoutNotFound,
  InvalidArgument,
  money,
  PaymentActionRequired,
  ProviderUnavailable,
} from '../../../index.ts'
import { CHECKOUT_OPTIONS, expectOneSubscription, listStoredOperationKinds } from './support.ts'

const DONE = `${BASE_URL}${CHECKOUT_OPTIONS.successPath}`

/** A billing object whose `authenticate` returns this user. */
function signedInAs(test: FlowTest, user: BillableUser | null): Billing {
  return test.another({ authenticate: () => user?.id ?? null })
}

/** Requests the return route, as the customer's browser does. */
async function comeBack(billing: Billing, session: string) {
  const address = `${BASE_URL}/billing/checkout/return?session_id=${encodeURIComponent(session)}`
  const response = await billing.fetch(new Request(address))
  return { status: response.status, location: response.headers.get('location') }
}

describe('a hosted page at Stripe', () => {
  it('starts exactly one subscription when the customer pays and comes back', async () => {
    const test = await start('stripe', { webhooks: false })
    const { sandbox } = test
    const billing = signedInAs(test, test.user)
    const user = await billing.user(test.user.id)
    const page = await user.checkout('monthly', CHECKOUT_OPTIONS)
    expect(page).toMatchObject({ status: 'open', expiresAt: new Date('2026-01-16T10:00:00Z') })
    expect(URL.canParse(page.url ?? '')).toBe(true)
    expect(await user.subscriptions()).toEqual([])

    // Not paid yet: the browser is redirected back to the page.
    expect(await comeBack(billing, page.id)).toEqual({ status: 303, location: page.url })
    sandbox.stripe.completeCheckout(page.id)
    expect(await comeBack(billing, page.id)).toEqual({ status: 303, location: DONE })
    const after = await billing.user(user.id)
    await expectOneSubscription(test, after)
    expect([after.cardBrand, after.cardLastFour]).toEqual(['visa', '4242'])
    // The card is the customer's default from now on.
    await after.charge(500)
    expect(sumChargedCents(test, after)).toBe(1500)
  })

  it('can no longer be paid after closeCheckouts(), unless it was paid just before', async () => {
    const test = await start('stripe', { webhooks: false })
    const { sandbox } = test
    for (const isPaid of [false, true]) {
      const user = await test.createUser()
      const page = await user.checkout('monthly', CHECKOUT_OPTIONS)
      if (isPaid) sandbox.stripe.completeCheckout(page.id)
      await user.closeCheckouts()
      await user.closeCheckouts()
      expect((await user.findCheckout(page.id))?.status).toBe(isPaid ? 'complete' : 'expired')
      expect(await user.subscriptions()).toHaveLength(isPaid ? 1 : 0)
      if (!isPaid) expect(() => sandbox.stripe.completeCheckout(page.id)).toThrow()
    }
    expect(await listStoredOperationKinds(test)).toEqual([])
    const braintree = await start('braintree')
    await braintree.user.closeCheckouts()
  })

  it('sends the customer directly to the successPath if the `authenticate` option is not set', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    expect(test.billing.handles('/billing/checkout/return')).toBe(false)
    const page = await user.newSubscription('main', 'monthly').checkout(CHECKOUT_OPTIONS)
    const { success_url } = (await page.asProvider()) as { success_url: string }
    expect(success_url).toBe(
      `${BASE_URL}/billing/done?from=checkout&session_id={CHECKOUT_SESSION_ID}#top`,
    )
    sandbox.stripe.completeCheckout(page.id)
    const { subscription, ...result } = await user.completeCheckout(page.id)
    expect(result).toMatchObject({ id: page.id, status: 'complete', isPaid: true })
    expect(subscription?.name).toBe('main')
    await test.settle()
    await expectOneSubscription(test, user)
  })

  it.each([
    ['the webhook alone', ['event']],
    ['the return alone', ['return']],
    ['the webhook, then the return', ['event', 'return']],
    ['the return, then the webhook', ['return', 'event']],
    ['repeated returns and events', ['return', 'event', 'return', 'event']],
  ])('creates one subscription row when its completion is reported by %s', async (_how, order) => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const { id } = await user.checkout('monthly', CHECKOUT_OPTIONS)
    sandbox.stripe.completeCheckout(id)
    const way: Record<string, () => Promise<unknown>> = {
      event: () => test.settle(),
      return: () => user.completeCheckout(id),
    }
    for (const each of order) await way[each]?.()
    await expectOneSubscription(test, user)
    await test.settle()
    await expectOneSubscription(test, await test.billing.user(user.id))
  })

  it('is expired when the same user opens a page with different terms, or calls create()', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const first = await user.checkout('monthly', CHECKOUT_OPTIONS)
    const second = await user.checkout('pro', CHECKOUT_OPTIONS)
    expect(() => sandbox.stripe.completeCheckout(first.id)).toThrow('expired')
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    expect(() => sandbox.stripe.completeCheckout(second.id)).toThrow('expired')
    await expectOneSubscription(test, user)
  })

  it('stays open when the user opens a page for a subscription of another name', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const { id } = await user.checkout('monthly', CHECKOUT_OPTIONS)
    await user.checkout('pro', { ...CHECKOUT_OPTIONS, name: 'addon' })
    sandbox.stripe.completeCheckout(id)
    expect((await user.completeCheckout(id)).subscription?.name).toBe('main')
    expect(await listStoredOperationKinds(test)).toEqual(['checkout'])
  })

  it("has its subscription stored by the user's next call to billing if the user paid just before that call", async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, sandbox } = test
    const { id } = await user.checkout('monthly', CHECKOUT_OPTIONS)
    sandbox.stripe.completeCheckout(id)
    await expect(user.checkout('monthly', CHECKOUT_OPTIONS)).rejects.toThrow(AlreadySubscribed)
    await expect(user.checkout('pro', CHECKOUT_OPTIONS)).rejects.toThrow(AlreadySubscribed)
    const same = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    expect(same.valid()).toBe(true)
    await expectOneSubscription(test, user)
  })

  it('can be opened after create() left a first payment that the customer never confirmed', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const asked = user.newSubscription('main', 'monthly').create('pm_card_authenticationRequired')
    await expect(asked).rejects.toThrow(PaymentActionRequired)
    const { id } = await user.checkout('monthly', CHECKOUT_OPTIONS)
    sandbox.stripe.completeCheckout(id)
    await user.completeCheckout(id)
    expect((await user.subscription('main')).valid()).toBe(true)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('expires if it is not used within a day', async () => {
    const test = await start('stripe')
    const { user } = test
    const page = await user.checkout('monthly', CHECKOUT_OPTIONS)
    await test.advance({ days: 2 })
    expect(await listStoredOperationKinds(test)).toEqual([])
    expect(await user.completeCheckout(page.id)).toMatchObject({
      status: 'expired',
      subscription: null,
    })
    const billing = signedInAs(test, user)
    expect(await comeBack(billing, page.id)).toEqual({ status: 404, location: null })
    expect((await user.checkout('monthly', CHECKOUT_OPTIONS)).id).not.toBe(page.id)
  })

  it.each(LOSSES)(
    'is created once, with one subscription row, when a response is lost (kind of failure: %s)',
    async (how) => {
      const test = await start('stripe', { webhooks: false })
      const { sandbox } = test
      const hit = async (
        user: BillableUser,
        after: number,
        ask: (user: BillableUser) => unknown,
      ) => {
        const other = await createImpatientBilling(test).user(user.id)
        loseResponse(test, 'stripe', { after, how })
        const failed = await Promise.resolve(ask(other)).then(
          () => null,
          (error: unknown) => error,
        )
        const wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
        sandbox.trouble.clear()
        if (failed !== null) expect(failed).toBeInstanceOf(ProviderUnavailable)
        return wasHit
      }
      for (let call = 0, isLeft = true; isLeft && call < 20; call++) {
        const user = await test.createUser({ email: `user-${call}@example.com` })
        const isOpening = await hit(user, call, (other) =>
          other.checkout('monthly', CHECKOUT_OPTIONS),
        )
        const { id } = await user.checkout('monthly', CHECKOUT_OPTIONS)
        const customer = user.providerId ?? ''
        const { data } = await (await stripeSdk(test)).checkout.sessions.list({ customer })
        expect(data.map((page) => page.id)).toEqual([id])
        sandbox.stripe.completeCheckout(id)
        const isReturning = await hit(user, call, (other) => other.completeCheckout(id))
        const { subscription } = await user.completeCheckout(id)
        expect(subscription?.valid(), `call ${call}`).toBe(true)
        await expectOneSubscription(test, user)
        isLeft = isOpening || isReturning
      }
    },
  )

  it('can be expired by the application', async () => {
    const test = await start('stripe', { webhooks: false })
    const page = await test.user.checkout('monthly', CHECKOUT_OPTIONS)
    await page.expire()
    await page.expire()
    expect(() => test.sandbox.stripe.completeCheckout(page.id)).toThrow('expired')
    expect(await listStoredOperationKinds(test)).toEqual([])
  })

  it('is expired when the user switches to another provider', async () => {
    const test = await start('stripe')
    const page = await test.user.checkout('monthly', CHECKOUT_OPTIONS)
    await test.user.chooseProvider('braintree')
    expect(() => test.sandbox.stripe.completeCheckout(page.id)).toThrow('expired')
    expect(await listStoredOperationKinds(test)).toEqual([])
  })
})

describe('a hosted page of another user (threat M1)', () => {
  it('is not found when a user returns with its id, and nothing changes for that user', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user: owner, sandbox } = test
    const thief = await test.createUser({ email: 'eve@example.com' })
    await thief.updateCard('pm_card_mastercard')
    const { id } = await owner.checkout('monthly', CHECKOUT_OPTIONS)
    sandbox.stripe.completeCheckout(id)
    const asThief = signedInAs(test, thief)
    expect(await comeBack(asThief, id)).toEqual({ status: 404, location: null })
    await expect(thief.completeCheckout(id)).rejects.toThrow(CheckoutNotFound)
    expect(await thief.subscriptions()).toEqual([])
    expect(await owner.subscriptions()).toEqual([])
    expect(await listStoredOperationKinds(test)).toEqual(['checkout'])

    expect(await comeBack(signedInAs(test, null), id)).toEqual({ status: 401, location: null })
    expect(await comeBack(signedInAs(test, owner), id)).toEqual({ status: 303, location: DONE })
  })

  it('is not found if its metadata names another owner or none, even for the same customer', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, sandbox } = test
    await user.updateCard('pm_card_visa')
    const stripe = await stripeSdk(test)
    const params = {
      mode: 'subscription' as const,
      customer: user.providerId ?? '',
      line_items: [{ price: 'monthly', quantity: 1 }],
      success_url: 'https://evil.example.com',
    }
    const foreign = await stripe.checkout.sessions.create(params)
    const metadata = { owner: 'user:2', success_path: '//evil.example.com' }
    const others = await stripe.checkout.sessions.create({ ...params, metadata })
    for (const { id } of [foreign, others]) {
      sandbox.stripe.completeCheckout(id)
      expect(await comeBack(signedInAs(test, user), id)).toEqual({ status: 404, location: null })
    }
    expect(await user.subscriptions()).toEqual([])
  })

  it.each([
    '',
    'cs_test_none',
    '../customers/cus_1',
    'cs_test_1?expand[]=customer',
    'x'.repeat(400),
  ])('is not found if the id is %j', async (id) => {
    const test = await start('stripe')
    const { user } = test
    expect(await comeBack(signedInAs(test, user), id)).toEqual({ status: 404, location: null })
    await user.updateCard('pm_card_visa')
    expect(await comeBack(signedInAs(test, user), id)).toEqual({ status: 404, location: null })
    await expect(user.completeCheckout(id)).rejects.toThrow(CheckoutNotFound)
  })

  it('is not found for a user of a provider without hosted pages', async () => {
    const test = await start('braintree')
    const { user } = test
    await user.updateCard('fake-valid-visa-nonce')
    const answer = await comeBack(signedInAs(test, user), 'cs_test_1')
    expect(answer).toEqual({ status: 404, location: null })
  })
})

describe('the path to which a hosted page sends the customer (threat G8)', () => {
  it.each([
    'https://evil.example.com',
    '//evil.example.com',
    '/\\evil.example.com',
    '\\\\evil.example.com',
    '/\t/evil.example.com',
    '/\n//evil.example.com',
    '/..//evil.example.com',
    '/.//evil.example.com',
    'javascript:alert(1)',
    'billing/done',
    '@evil.example.com',
    '.evil.example.com',
    '',
    ' /done',
    `/${'x'.repeat(600)}`,
    null,
    undefined,
    42,
  ])(
    'is rejected before any request if it is %j, because it could lead to another host',
    async (path) => {
      const test = await start('stripe')
      const { user } = test
      const bad = path as string
      const refused = [
        user.checkout('monthly', { ...CHECKOUT_OPTIONS, successPath: bad }),
        user.newSubscription('main', 'monthly').checkout({ successPath: bad }),
        user.billingPortal({ returnPath: bad }),
      ]
      if (path !== undefined && path !== null) {
        refused.push(user.checkout('monthly', { ...CHECKOUT_OPTIONS, cancelPath: bad }))
      }
      const [page, ofSubscription, ...others] = await Promise.allSettled(refused)
      for (const each of [page, ofSubscription]) {
        expect(each).toMatchObject({ reason: expect.any(InvalidArgument) })
      }
      for (const each of others) expect(each.status).toBe('rejected')
      expect(countProviderCustomers(test, 'stripe')).toBe(0)
      await user.updateCard('pm_card_visa')
      await expect(user.billingPortal({ returnPath: bad })).rejects.toThrow(InvalidArgument)
    },
  )

  it.each(['/', '/done', '/a/../b?x=//evil.example.com', '/%2f%2fevil.example.com', '/@evil'])(
    'is accepted if it is %j, because it leads to our host',
    async (successPath) => {
      const test = await start('stripe', { webhooks: false })
      const { user } = test
      const billing = signedInAs(test, user)
      const { id } = await (await billing.user(user.id)).checkout('monthly', {
        ...CHECKOUT_OPTIONS,
        successPath,
        cancelPath: successPath,
      })
      test.sandbox.stripe.completeCheckout(id)
      const { status, location } = await comeBack(billing, id)
      expect([status, new URL(location ?? '').origin]).toEqual([303, BASE_URL])
    },
  )

  it('requires the `baseUrl` option', async () => {
    const test = await start('stripe')
    const billing = test.another({ baseUrl: undefined as never })
    const user = await billing.user(test.user.id)
    await expect(user.checkout('monthly', CHECKOUT_OPTIONS)).rejects.toThrow('baseUrl')
  })
})

describe('a hosted page with items and options', () => {
  it('starts a trial, and afterwards charges with the coupon, the quantity and the user’s tax', async () => {
    const test = await start('stripe', { coupon: true, taxPercentage: () => 19 })
    const { user, sandbox } = test
    const page = await user
      .newSubscription('main', 'monthly')
      .trialDays(10)
      .quantity(3)
      .withCoupon('SPRING')
      .checkout(CHECKOUT_OPTIONS)
    sandbox.stripe.completeCheckout(page.id)
    const { subscription } = await user.completeCheckout(page.id)
    expect(subscription?.onTrial()).toBe(true)
    expect(subscription?.trialEndsAt).toEqual(new Date('2026-01-25T10:00:00Z'))
    expect(subscription?.quantity).toBe(3)
    await test.advance({ days: 11 })
    // 3 × 10.00 − 3.00, and 19 % on top.
    expect(sumChargedCents(test, user)).toBe(3213)
  })

  it('starts a trial that ends on the date of the `trialUntil` option', async () => {
    const test = await start('stripe')
    const trialUntil = new Date('2026-02-20T12:00:00Z')
    const { id } = await test.user.checkout('monthly', { ...CHECKOUT_OPTIONS, trialUntil })
    // The repeat compares with the stored request, where dates are text.
    expect((await test.user.checkout('monthly', { ...CHECKOUT_OPTIONS, trialUntil })).id).toBe(id)
    test.sandbox.stripe.completeCheckout(id)
    const { subscription } = await test.user.completeCheckout(id)
    expect(subscription?.trialEndsAt).toEqual(trialUntil)
  })

  it('stores a card without a payment, and makes it the default', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const { id } = await user.checkout([], { mode: 'setup', successPath: '/cards' })
    sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_card_mastercard' })
    await user.completeCheckout(id)
    expect([user.cardBrand, user.cardLastFour]).toEqual(['mastercard', '4444'])
    // A late return must not restore the old card.
    await user.updateCard('pm_card_amex')
    await user.completeCheckout(id)
    expect((await test.billing.user(user.id)).cardBrand).toBe('amex')
    expect(await listStoredOperationKinds(test)).toEqual([])
  })

  it('bills its subscription to the card entered on the page, and keeps the customer’s default card', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, sandbox } = test
    await user.updateCard('pm_card_mastercard')
    const { id } = await user.checkout('monthly', CHECKOUT_OPTIONS)
    sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_card_visa' })
    await user.completeCheckout(id)
    expect(user.cardBrand).toBe('mastercard')
    await expectOneSubscription(test, user)
  })

  it('takes a single payment, without a subscription and without the tax of taxPercentage()', async () => {
    const test = await start('stripe', { taxPercentage: () => 19 })
    const { user, sandbox } = test
    const stripe = await stripeSdk(test)
    const product = (await stripe.products.create({ name: 'Poster' })).id
    const price = await stripe.prices.create({ product, currency: 'usd', unit_amount: 700 })
    const item = { price: price.id, quantity: 2 }
    const { id } = await user.checkout([item], { mode: 'payment', successPath: '/shop' })
    sandbox.stripe.completeCheckout(id)
    const { subscription, ...result } = await user.completeCheckout(id)
    expect([subscription, result]).toMatchObject([null, { id, status: 'complete', isPaid: true }])
    expect(sumChargedCents(test, user)).toBe(1400)
    expect(await listStoredOperationKinds(test)).toEqual([])
    // Another order is another payment.
    expect((await user.checkout([item], { mode: 'payment', successPath: '/shop' })).id).not.toBe(id)
  })

  it('sells several prices and a fee in one subscription', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const stripe = await stripeSdk(test)
    const product = (await stripe.products.create({ name: 'Setup' })).id
    const fee = await stripe.prices.create({ product, currency: 'usd', unit_amount: 450 })
    const items = [{ price: 'monthly', quantity: 2 }, { price: 'pro' }, { price: fee.id }]
    const { id } = await user.checkout(items, CHECKOUT_OPTIONS)
    sandbox.stripe.completeCheckout(id)
    const { subscription } = await user.completeCheckout(id)
    expect([subscription?.providerPlan, subscription?.quantity]).toEqual(['monthly', 2])
    expect(subscription?.items()).toEqual([
      { price: 'monthly', quantity: 2, isMain: true },
      { price: 'pro', quantity: 1, isMain: false },
    ])
    const made = await stripe.subscriptions.retrieve(subscription?.providerId ?? '')
    expect(made.metadata.main).toBe('monthly')
    expect(sumChargedCents(test, user)).toBe(2 * 1000 + 2500 + 450)
  })

  it('sells an item described by name and amount, which has no price at Stripe', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const order = { quantity: 3, successPath: '/orders/7', metadata: { order: '7' } }
    const { id } = await user.checkoutCharge(money(1999, 'eur'), 'Poster', order)
    sandbox.stripe.completeCheckout(id)
    expect(await user.completeCheckout(id)).toMatchObject({ isPaid: true, subscription: null })
    expect(sumChargedCents(test, user)).toBe(5997)
    const other = { ...order, metadata: { order: '8' } }
    const next = await user.checkoutCharge(money(1999, 'eur'), 'Poster', other)
    const same = await user.checkoutCharge(money(1999, 'eur'), 'Poster', other)
    expect([next.id === id, next.id === same.id]).toEqual([false, true])
  })

  it('starts a trial without a card', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const trial = user.newSubscription('main', 'monthly').trialDays(7)
    const { id } = await trial.checkout({ successPath: '/done', withoutCard: true })
    const { checkout } = await stripeSdk(test)
    expect(await checkout.sessions.retrieve(id)).toMatchObject({
      payment_method_collection: 'if_required',
    })
    sandbox.stripe.completeCheckout(id)
    const { subscription } = await user.completeCheckout(id)
    expect(subscription?.onTrial()).toBe(true)
  })

  it('reduces the price if the customer types a promotion code', async () => {
    const test = await start('stripe', { coupon: true })
    const { user, sandbox } = test
    const stripe = await stripeSdk(test)
    await stripe.promotionCodes.create({
      code: 'HELLO',
      promotion: { type: 'coupon', coupon: 'SPRING' },
    })
    const { id } = await user.checkout('monthly', {
      ...CHECKOUT_OPTIONS,
      allowPromotionCodes: true,
    })
    sandbox.stripe.completeCheckout(id, { promotionCode: 'HELLO' })
    await user.completeCheckout(id)
    expect(sumChargedCents(test, user)).toBe(700)
  })

  it.each([
    ['an empty list of items', [], {}],
    ['a price in mode setup', 'monthly', { mode: 'setup' }],
    ['half a unit', [{ price: 'monthly', quantity: 0.5 }], {}],
    ['an empty range of quantities', [{ price: 'monthly', adjustable: { min: 3, max: 2 } }], {}],
    ['two trials', 'monthly', { trialDays: 3, trialUntil: new Date('2026-03-01') }],
    ['a trial of a single payment', 'monthly', { mode: 'payment', trialDays: 3 }],
    ['a trial of 1000 days', 'monthly', { trialDays: 1000 }],
    ['an invalid end of the trial', 'monthly', { trialUntil: new Date(Number.NaN) }],
    ['a coupon and a field for codes', 'monthly', { coupon: 'SPRING', allowPromotionCodes: true }],
    ['an amount of zero', [{ name: 'Gift', amount: money(0, 'usd') }], { mode: 'payment' }],
  ] as const)('rejects %s', async (_what, items, options) => {
    const test = await start('stripe')
    const refused = test.user.checkout(items, { ...CHECKOUT_OPTIONS, ...options })
    await expect(refused).rejects.toMatchObject({
      code: expect.stringMatching(/^invalid_(argument|amount)$/),
    })
    expect(countProviderCustomers(test, 'stripe')).toBe(0)
  })

  it('leaves no record behind if Stripe refuses to create the page', async () => {
    const test = await start('stripe')
    await expect(test.user.checkout('no-such-price', CHECKOUT_OPTIONS)).rejects.toMatchObject({
      code: 'unknown_price',
    })
    expect(await listStoredOperationKinds(test)).toEqual([])
  })
})

describe('the billing portal at Stripe', () => {
  it('gets a new URL for each visit, and contains a link back to the application', async () => {
    const test = await start('stripe')
    const { user } = test
    await expect(user.billingPortal({ returnPath: '/account' })).rejects.toMatchObject({
      code: 'no_customer',
    })
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const { url } = await user.billingPortal({ returnPath: '/account' })
    const again = await user.billingPortal({ returnPath: '/account' })
    expect(again.url).not.toBe(url)
    const page = await (await fetch(url)).text()
    expect(page).toContain(`${BASE_URL}/account`)
    const flows = ['payment_method', { cancel: 'main' }] as const
    for (const flow of flows) {
      const visit = await user.billingPortal({ returnPath: '/account', flow, locale: 'de' })
      expect((await fetch(visit.url)).status).toBe(200)
    }
    await expect(
      user.billingPortal({ returnPath: '/account', flow: { cancel: 'other' } }),
    ).rejects.toMatchObject({ code: 'no_subscription' })
  })
})
