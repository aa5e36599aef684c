import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { readSandboxState, readTableState } from '../../../../test/provider-truth.ts'
import {
  countProviderCustomers,
  countProviderSubscriptions,
  PROVIDERS,
  start,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  type BillableUser,
  InvalidArgument,
  InvalidPaymentToken,
  InvalidTaxPercentage,
  PaymentActionRequired,
  PaymentFailed,
  ProviderUnavailable,
  UnknownCoupon,
  UnknownPrice,
} from '../../../index.ts'

describe.each(PROVIDERS)('create() at $provider', ({ provider, card, unknownToken }) => {
  it('creates one customer and one subscription for twenty simultaneous calls (threat W5)', async () => {
    const test = await start(provider)
    const other = test.another()
    const users = [test.user, await other.user(test.user.id)]
    const calls = Array.from({ length: 20 }, (_, index) => {
      const user = users[index % 2] as BillableUser
      return user.newSubscription('main', 'monthly').create(card)
    })
    const made = await Promise.all(calls)
    expect(new Set(made.map(({ providerId }) => providerId)).size).toBe(1)
    expect(countProviderCustomers(test, provider)).toBe(1)
    expect(countProviderSubscriptions(test, test.user)).toBe(1)
    expect(sumChargedCents(test, test.user)).toBe(1000)
    await test.settle()
    expect(await test.user.subscriptions()).toHaveLength(1)
  })

  it.each(LOSSES)(
    'finds the subscription when it is repeated after a lost response, and does not create another (kind of failure: %s)',
    async (how) => {
      const test = await start(provider)
      const { sandbox } = test
      for (let call = 0, wasHit = true; wasHit && call < 20; call++) {
        const { id } = await test.createUser()
        const other = await createImpatientBilling(test).user(id)
        loseResponse(test, provider, { after: call, how })
        const failed = await other
          .newSubscription('main', 'monthly')
          .create(card)
          .then(
            () => null,
            (error: unknown) => error,
          )
        wasHit = sandbox.trouble.takeCallTrouble(provider) === null
        sandbox.trouble.clear()
        if (failed) expect(failed).toBeInstanceOf(ProviderUnavailable)
        const user = await test.billing.user(id)
        const again = await user.newSubscription('main', 'monthly').create(card)
        expect(again.valid()).toBe(true)
        expect(countProviderSubscriptions(test, user)).toBe(1)
        expect(sumChargedCents(test, user)).toBe(1000)
        expect(countProviderCustomers(test, provider)).toBe(call + 1)
      }
    },
  )

  it('stores one row if the webhook arrives before the call returns (threat W3)', async () => {
    const test = await start(provider)
    const { sandbox } = test
    const { trouble, outbox } = sandbox
    const other = test.another()
    const early = new Set<string>()
    for (let call = 0; ; call++) {
      const user = await test.createUser()
      trouble.failNext(call, { slowMs: 0 }, provider)
      trouble.failNext(1, 'held', provider)
      let returned = false
      const creating = user
        .newSubscription('main', 'monthly')
        .create(card)
        .finally(() => {
          returned = true
        })
      await Promise.race([trouble.untilHeld(), creating])
      if (returned) break
      // The provider has made the change and sends its webhook, while the response to the call is
      // still delayed.
      await outbox.flush()
      for (const { eventType, state } of outbox.deliveries()) {
        if (state === 'delivered') early.add(eventType)
      }
      const handling = other.process()
      expect(returned).toBe(false)
      trouble.release()
      const subscription = await creating
      await handling
      await test.settle()
      const all = await user.subscriptions()
      expect(all.map(({ providerId, name }) => [providerId, name])).toEqual([
        [subscription.providerId, 'main'],
      ])
      const truth = readSandboxState(sandbox, provider, user.providerId ?? '')
      expect(truth.subscriptions).toHaveLength(1)
      expect(await readTableState(test.database, user.id)).toEqual(truth)
      expect(sumChargedCents(test, user)).toBe(1000)
    }
    trouble.clear()
    expect([...early].some((type) => /subscription/.test(type))).toBe(true)
    expect(await test.billing.webhooks.deadLetters()).toEqual([])
  })

  it('rejects invalid input before any request (threat M5)', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    expect(() => user.newSubscription('main', '')).toThrow(InvalidArgument)
    expect(() => user.newSubscription('main', 'monthly').trialDays(-1)).toThrow(InvalidArgument)
    expect(() => user.newSubscription('main', 'monthly').trialDays(1.5)).toThrow(InvalidArgument)
    expect(() => user.newSubscription('main', 'monthly').quantity(0)).toThrow(InvalidArgument)
    expect(() => user.newSubscription('main', 'monthly').withCoupon('')).toThrow(InvalidArgument)
    await expect(user.newSubscription('main', 'monthly').create('')).rejects.toThrow(
      InvalidArgument,
    )
    for (const percentage of [-1, 101, 7.125]) {
      const taxed = test.another({ taxPercentage: () => percentage })
      const builder = (await taxed.user(user.id)).newSubscription('main', 'monthly')
      await expect(builder.create(card)).rejects.toThrow(InvalidTaxPercentage)
    }
    expect(sandbox.stripe.customers()).toEqual([])
    expect(sandbox.braintree.customers()).toEqual([])
  })

  it('throws an error that says whether the plan, the coupon or the token is unknown', async () => {
    const { user } = await start(provider)
    await expect(user.newSubscription('main', 'none').create(card)).rejects.toThrow(UnknownPrice)
    const coupon = user.newSubscription('main', 'monthly').withCoupon('NONE')
    await expect(coupon.create(card)).rejects.toThrow(UnknownCoupon)
    const token = user.newSubscription('main', 'monthly').create(unknownToken)
    await expect(token).rejects.toThrow(InvalidPaymentToken)
    expect(await user.subscriptions()).toEqual([])
  })
})

it('create() ends a subscription whose first payment is declined, so that it cannot be paid later (threat W6)', async () => {
  const { user, sandbox } = await start('stripe', { webhooks: false })
  await user.updateCard('pm_card_visa')
  const customer = user.providerId ?? ''
  sandbox.trouble.declineNextCharge(customer, 'insufficient_funds')
  const creating = user.newSubscription('main', 'monthly').create()
  await expect(creating).rejects.toThrow(PaymentFailed)
  const statuses = sandbox.stripe.subscriptions(customer).map(({ status }) => status)
  expect(statuses).toEqual(['incomplete_expired'])
  expect(sandbox.stripe.invoices(customer).map(({ status }) => status)).toEqual(['void'])
  expect((await user.findSubscription('main'))?.ended()).toBe(true)
})

describe('a card that requires authentication', () => {
  it('leaves a new subscription incomplete and without access until the payment is confirmed (threat W6)', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const asked = await user
      .newSubscription('main', 'monthly')
      .create('pm_card_threeDSecureRequired')
      .catch((error: unknown) => error)
    expect(asked).toBeInstanceOf(PaymentActionRequired)
    const { payment } = asked as PaymentActionRequired
    expect(payment.clientSecret).toContain('_secret_')
    expect(await user.subscribed('main')).toBe(false)
    expect((await user.subscription('main')).incomplete()).toBe(true)

    const again = user.newSubscription('main', 'monthly').create()
    await expect(again).rejects.toMatchObject({ payment: { id: payment.id } })

    sandbox.stripe.completeAuthentication(payment.id)
    await test.settle()
    expect(await user.subscribed('main')).toBe(true)
    expect(countProviderSubscriptions(test, user)).toBe(1)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('makes swap() throw an error with the payment to confirm, while a swap with a declined card changes nothing', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
    await expect(subscription.swap('yearly')).rejects.toThrow(PaymentFailed)
    expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(1000)

    await user.updateCard('pm_card_authenticationRequired')
    const asked = await subscription.swap('yearly').catch((error: unknown) => error)
    expect(asked).toBeInstanceOf(PaymentActionRequired)
    sandbox.stripe.completeAuthentication((asked as PaymentActionRequired).payment.id)
    await test.settle()
    expect(await user.subscribedToPlan('yearly', 'main')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(10_000)
  })

  it('makes charge() throw an error with the payment to confirm', async () => {
    const { user } = await start('stripe')
    await user.updateCard('pm_card_authenticationRequired')
    await expect(user.charge(1000)).rejects.toThrow(PaymentActionRequired)
  })
})
