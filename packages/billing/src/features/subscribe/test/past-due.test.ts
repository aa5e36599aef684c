import { describe, expect, it } from 'vitest'
import {
  countProviderSubscriptions,
  PROVIDERS,
  start,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  NotOnGracePeriod,
  PaymentActionRequired,
  PaymentFailed,
  ProviderUnavailable,
  SubscriptionEnded,
} from '../../../index.ts'
import { startBilling } from '../../../testing/index.ts'

describe.each(PROVIDERS)('subscriptions at $provider', ({ provider, card, otherCard }) => {
  const code = provider === 'stripe' ? 'insufficient_funds' : '2001'

  it('are paid once by concurrent calls of payNow() after a declined renewal', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create(card)
    sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await test.advance({ months: 1, hours: 2 })
    const late = await user.subscription('main')
    expect(await late.amountOwed()).toEqual({ amount: 1000, currency: 'usd' })
    sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await expect(late.payNow()).rejects.toThrow(PaymentFailed)
    await user.updateCard(otherCard)
    const other = await (await test.another().user(user.id)).subscription('main')
    await Promise.all([late.payNow(), other.payNow()])
    await late.payNow()
    expect(late.pastDue()).toBe(false)
    expect((await late.amountOwed())?.amount).toBe(0)
    await late.requirePaid()
    await test.advance({ days: 10 })
    expect(sumChargedCents(test, user)).toBe(2000)
  })

  it('are reported by sync() if the application has deleted the user, and cancelled with the `cancelDeletedUsers` option', async () => {
    const test = await start(provider)
    const { user, sandbox, database } = test
    const { providerId } = await user.newSubscription('main', 'monthly').create(card)
    const stays = await test.createUser()
    await stays.newSubscription('main', 'monthly').create(card)
    await database.kysely.deleteFrom('users').where('id', '=', user.id).execute()
    for (const dryRun of [true, false]) {
      const { drift } = await test.billing.sync({ dryRun })
      expect(drift).toMatchObject([{ owner: user.owner, providerId, what: 'user deleted' }])
    }
    const dry = await test.billing.sync({ dryRun: true, cancelDeletedUsers: true })
    expect(dry.drift).toHaveLength(1)
    const ending = await test.billing.sync({ cancelDeletedUsers: true })
    expect(ending.drift).toMatchObject([
      { what: 'user deleted', is: { status: expect.stringMatching(/^canceled$/i) } },
    ])
    expect((await test.billing.sync({ cancelDeletedUsers: true })).drift).toEqual([])
    await test.advance({ months: 2 })
    const customer = user.providerId ?? ''
    const charges =
      provider === 'stripe'
        ? sandbox.stripe.charges(customer)
        : sandbox.braintree.transactions(customer)
    expect(charges).toHaveLength(1)
    expect(await stays.subscribed('main')).toBe(true)
  })

  it('accept a repeated resume() after a lost response, but reject resume() if they are not cancelled', async () => {
    const test = await start(provider, { webhooks: false })
    const { sandbox } = test
    for (let call = 0, wasHit = true; wasHit && call < 20; call++) {
      const user = await test.createUser()
      const subscription = await user.newSubscription('main', 'monthly').create(card)
      await expect((await user.subscription('main')).resume()).rejects.toThrow(NotOnGracePeriod)
      await subscription.cancel()
      sandbox.trouble.failNext(call, { slowMs: 0 }, provider)
      sandbox.trouble.failNext(1, 'half-written', provider)
      const first = await subscription.resume().catch((error: unknown) => error)
      wasHit = sandbox.trouble.takeCallTrouble(provider) === null
      sandbox.trouble.clear()
      const again = await user.subscription('main')
      if (first instanceof Error) {
        expect(first).toBeInstanceOf(ProviderUnavailable)
        await again.resume()
      }
      expect((await user.subscription('main')).cancelled()).toBe(false)
      await expect((await user.subscription('main')).resume()).rejects.toThrow(NotOnGracePeriod)
    }
  })

  it('stay past due if a create() with a lost response is completed after a renewal failed', async () => {
    const test = await start(provider, { webhooks: false })
    const { billing, sandbox } = test
    let late = 0
    for (let call = 0, wasHit = true; wasHit && call < 20; call++) {
      const { id } = await test.createUser()
      sandbox.trouble.failNext(call, { slowMs: 0 }, provider)
      sandbox.trouble.failNext(1, 'half-written', provider)
      const creating = (await billing.user(id)).newSubscription('main', 'monthly').create(card)
      const isLost = await creating.then(
        () => false,
        () => true,
      )
      wasHit = sandbox.trouble.takeCallTrouble(provider) === null
      sandbox.trouble.clear()
      const user = await billing.user(id)
      if (!isLost || user.providerId === null) continue
      sandbox.trouble.declineNextCharge(user.providerId, code)
      await test.advance({ months: 1, hours: 2 })
      if (countProviderSubscriptions(test, user) === 0) continue
      late += 1
      await user.sync()
      const subscription = await user.subscription('main')
      expect([subscription.pastDue(), subscription.cancelled()]).toEqual([true, false])
    }
    expect(late).toBeGreaterThan(0)
  })

  it('reject a swap through an outdated object once they have ended', async () => {
    const test = await start(provider)
    const { user } = test
    const stale = await user.newSubscription('main', 'monthly').create(card)
    const fresh = await user.subscription('main')
    await (await fresh.swap('yearly')).cancelNow()
    await expect(stale.swap('yearly')).rejects.toThrow(SubscriptionEnded)
    expect(await user.subscribed('main')).toBe(false)
  })
})

describe('payNow() with a card that requires authentication', () => {
  it('throws an error with the payment, which the customer can then confirm', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
    await test.advance({ months: 1, hours: 2 })
    await user.updateCard('pm_card_authenticationRequired')
    const asked = await subscription.payNow().catch((error: unknown) => error)
    expect(asked).toBeInstanceOf(PaymentActionRequired)
    const { payment } = asked as PaymentActionRequired
    await expect(subscription.requirePaid()).rejects.toMatchObject({ payment: { id: payment.id } })
    sandbox.stripe.completeAuthentication(payment.id)
    await test.settle()
    expect((await user.subscription('main')).pastDue()).toBe(false)
    expect(sumChargedCents(test, user)).toBe(2000)
  })
})

describe('cancelNow() after a swap to a more expensive plan', () => {
  it.each([
    [{}, 1000],
    [{ invoiceNow: true }, 1750],
  ])(
    'bills the pending difference only if the `invoiceNow` option is set (options: %j)',
    async (options, taken) => {
      const test = await start('stripe')
      const { user } = test
      const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
      // Half of the period from 15 January to 15 February.
      await test.advance({ days: 15, hours: 12 })
      await subscription.swap('pro')
      await subscription.cancelNow(options)
      await test.advance({ days: 30 })
      expect(sumChargedCents(test, user)).toBe(taken)
      expect(countProviderSubscriptions(test, user)).toBe(1)
    },
  )
})

describe('close() of startBilling()', () => {
  it('waits for running work before it stops the sandbox', async () => {
    const errors: unknown[] = []
    const logger = { error: (...words: unknown[]) => void errors.push(words) }
    const test = await startBilling({ logger })
    await test.user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.sandbox.outbox.flush()
    const handling = test.billing.process()
    await test.close()
    await handling
    expect(errors).toEqual([])
  })
})
