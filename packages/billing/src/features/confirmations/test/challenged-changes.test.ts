import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { readSandboxState, readTableState } from '../../../../test/provider-truth.ts'
import { type FlowTest, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import {
  type BillableUser,
  PaymentActionRequired,
  PaymentFailed,
  ProviderUnavailable,
  type Subscription,
} from '../../../index.ts'

const CHALLENGED = 'pm_card_authenticationRequired'

interface Challenged {
  readonly test: FlowTest
  readonly user: BillableUser
  readonly subscription: Subscription
}

/** A paid subscription to `monthly`, whose card requires authentication from now on. */
async function startChallengedSubscription(
  options: Parameters<typeof start>[1] = {},
): Promise<Challenged> {
  const test = await start('stripe', options)
  const { user } = test
  const extra = { id: 'storage', unitAmount: 500, interval: 'month', product: 'Extras' } as const
  test.sandbox.stripe.seedPrice(extra)
  await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await user.updateCard(CHALLENGED)
  return { test, user, subscription: await user.subscription('main') }
}

/** The id of the payment that a change asks the customer to authenticate. */
async function expectRequiredPayment(change: Promise<unknown>): Promise<string> {
  const error = await change.then(
    () => null,
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(PaymentActionRequired)
  return (error as PaymentActionRequired).payment.id
}

/** Expects this plan with no open payment, and rows that equal the provider's state. */
async function expectPlan({ test, user }: Challenged, plan: string, taken: number): Promise<void> {
  await test.settle()
  const subscription = await user.subscription('main')
  expect(await user.subscribedToPlan(plan, 'main')).toBe(true)
  expect(subscription.pastDue()).toBe(false)
  await subscription.requirePaid()
  expect(await subscription.pendingConfirmation()).toBeNull()
  expect((await subscription.amountOwed())?.amount).toBe(0)
  expect((await user.balance()).amount).toBe(0)
  expect(sumChargedCents(test, user)).toBe(taken)
  const customer = user.providerId ?? ''
  expect(await readTableState(test.database, user.id)).toEqual(
    readSandboxState(test.sandbox, 'stripe', customer),
  )
}

/** Expects the old plan, and a payment that waits for the customer. */
async function expectPendingPayment({ test, user }: Challenged, payment: string): Promise<void> {
  await test.settle()
  const subscription = await user.subscription('main')
  expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
  expect(await user.subscribedToPlan('yearly', 'main')).toBe(false)
  expect(await subscription.pendingConfirmation()).toMatchObject({ kind: 'payment', id: payment })
  await expect(subscription.requirePaid()).rejects.toMatchObject({ payment: { id: payment } })
  expect(sumChargedCents(test, user)).toBe(1000)
}

describe('a swap whose payment requires authentication (threat W6)', () => {
  it('keeps the old plan until the customer authenticates', async () => {
    const it = await startChallengedSubscription()
    const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
    await expectPendingPayment(it, payment)
    expect((await it.subscription.amountOwed())?.amount).toBe(9000)
    it.test.sandbox.stripe.completeAuthentication(payment)
    await expectPlan(it, 'yearly', 10_000)
  })

  it('can be paid with another card instead', async () => {
    const it = await startChallengedSubscription()
    const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
    await it.user.updateCard('pm_card_visa')
    await it.subscription.payNow()
    await expectPlan(it, 'yearly', 10_000)
    expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
  })

  it('takes effect with the new card if the call is repeated after updateCard()', async () => {
    const it = await startChallengedSubscription()
    const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
    await it.user.updateCard('pm_card_visa')
    await it.subscription.swap('yearly')
    await expectPlan(it, 'yearly', 10_000)
    expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
  })

  it.each(['failed', 'unanswered'])(
    'is dropped by a swap back to the old plan, which gives no credit (authentication %s)',
    async (how) => {
      const it = await startChallengedSubscription()
      const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
      if (how === 'failed') it.test.sandbox.stripe.failAuthentication(payment)
      await it.subscription.swap('monthly')
      await expectPlan(it, 'monthly', 1000)
      expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
      await it.test.advance({ days: 3 })
      await expectPlan(it, 'monthly', 1000)
    },
  )

  it('is dropped by a swap to a third plan', async () => {
    const it = await startChallengedSubscription()
    const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
    await it.subscription.swap('pro')
    await expectPlan(it, 'pro', 1000)
    expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
  })

  it.each(['cancel', 'cancelNow'] as const)('is dropped by %s()', async (how) => {
    const { test, user, subscription } = await startChallengedSubscription()
    const payment = await expectRequiredPayment(subscription.swap('yearly'))
    await subscription[how]()
    expect(() => test.sandbox.stripe.completeAuthentication(payment)).toThrow()
    await test.advance({ months: 2 })
    expect(await user.subscribed('main')).toBe(false)
    expect(sumChargedCents(test, user)).toBe(1000)
    const open = test.sandbox.stripe.invoices(user.providerId ?? '')
    expect(open.filter(({ status }) => status === 'open')).toEqual([])
  })

  it('expires after a day, and the old plan continues', async () => {
    const it = await startChallengedSubscription()
    const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
    await it.test.advance({ days: 1 })
    await expectPlan(it, 'monthly', 1000)
    expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
    expect(await expectRequiredPayment(it.subscription.swap('yearly'))).not.toBe(payment)
  })

  it('throws an error with the same pending payment if the call is repeated', async () => {
    const it = await startChallengedSubscription()
    const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
    expect(await expectRequiredPayment(it.subscription.swap('yearly'))).toBe(payment)
    const other = await (await it.test.another().user(it.user.id)).subscription('main')
    expect(await expectRequiredPayment(other.swap('yearly'))).toBe(payment)
    it.test.sandbox.stripe.completeAuthentication(payment)
    await it.subscription.swap('yearly')
    await expectPlan(it, 'yearly', 10_000)
  })

  it('throws an error with a new pending payment if it is repeated after a failed authentication', async () => {
    const it = await startChallengedSubscription()
    const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
    it.test.sandbox.stripe.failAuthentication(payment)
    const again = await expectRequiredPayment(it.subscription.swap('yearly'))
    it.test.sandbox.stripe.completeAuthentication(again)
    await expectPlan(it, 'yearly', 10_000)
  })

  it('changes nothing if the card is declined', async () => {
    const it = await startChallengedSubscription()
    await expectRequiredPayment(it.subscription.swap('yearly'))
    await it.user.updateCard('pm_card_chargeCustomerFail')
    await expect(it.subscription.payNow()).rejects.toThrow(PaymentFailed)
    await expect(it.subscription.swap('yearly')).rejects.toThrow(PaymentFailed)
    await expectPlan(it, 'monthly', 1000)
  })

  it('applies the application’s tax, even if it changed since the subscription started', async () => {
    let tax = 0
    const it = await startChallengedSubscription({ taxPercentage: () => tax })
    tax = 10
    const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
    await expectPendingPayment(it, payment)
    it.test.sandbox.stripe.completeAuthentication(payment)
    // 100.00 less the 10.00 that were paid for the old plan without tax.
    await expectPlan(it, 'yearly', 1000 + 10_000 + 1000 - 1000 - 100)
  })

  it('resumes a cancelled subscription only after the customer has authenticated', async () => {
    const it = await startChallengedSubscription()
    await it.subscription.cancel()
    const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
    await it.test.settle()
    expect((await it.user.subscription('main')).onGracePeriod()).toBe(true)
    it.test.sandbox.stripe.completeAuthentication(payment)
    await expectPlan(it, 'yearly', 10_000)
    expect((await it.user.subscription('main')).cancelled()).toBe(false)
  })

  it.each(['cancel', 'cancelAt'] as const)(
    'does not resume a subscription that is cancelled again in the meantime by %s()',
    async (how) => {
      const it = await startChallengedSubscription()
      const { endsAt } = await it.subscription.cancel()
      const payment = await expectRequiredPayment(it.subscription.swap('yearly'))
      if (how === 'cancel') await it.subscription.cancel()
      else await it.subscription.cancelAt(endsAt ?? new Date())
      expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
      await expectPlan(it, 'monthly', 1000)
      const subscription = await it.user.subscription('main')
      expect([subscription.onGracePeriod(), subscription.endsAt]).toEqual([true, endsAt])
      await subscription.resume()
      expect((await it.user.subscription('main')).cancelled()).toBe(false)
    },
  )

  it.each(LOSSES)(
    'requires authentication again after a lost response, and takes effect once (kind of failure: %s)',
    async (how) => {
      const test = await start('stripe', { webhooks: false })
      for (let call = 0, wasHit = true; wasHit && call < 30; call++) {
        const user = await test.createUser()
        await user.newSubscription('main', 'monthly').create('pm_card_visa')
        await user.updateCard(CHALLENGED)
        const other = await (await createImpatientBilling(test).user(user.id)).subscription('main')
        loseResponse(test, 'stripe', { after: call, how })
        const first = await other.swapAndInvoice('yearly').catch((error: unknown) => error)
        wasHit = test.sandbox.trouble.takeCallTrouble('stripe') === null
        test.sandbox.trouble.clear()
        const subscription = await user.subscription('main')
        if (wasHit && !(first instanceof PaymentActionRequired)) {
          expect(first, `call ${call}`).toBeInstanceOf(ProviderUnavailable)
        }
        const payment = await expectRequiredPayment(subscription.swapAndInvoice('yearly'))
        await expectPendingPayment({ test, user, subscription }, payment)
        test.sandbox.stripe.completeAuthentication(payment)
        await subscription.swapAndInvoice('yearly')
        await expectPlan({ test, user, subscription }, 'yearly', 10_000)
      }
    },
  )
})

describe('other changes whose payment requires authentication (threat W6)', () => {
  it('add a price once the customer authenticates', async () => {
    const it = await startChallengedSubscription()
    const payment = await expectRequiredPayment(it.subscription.addPriceAndInvoice('storage'))
    await expectPendingPayment(it, payment)
    expect(await expectRequiredPayment(it.subscription.addPriceAndInvoice('storage'))).toBe(payment)
    expect((await it.user.subscription('main')).items()).toHaveLength(1)
    it.test.sandbox.stripe.completeAuthentication(payment)
    await it.test.settle()
    expect((await it.user.subscription('main')).items()).toHaveLength(2)
    await it.subscription.addPriceAndInvoice('storage')
  })

  it('end a trial once the customer authenticates', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').trialDays(14).create('pm_card_visa')
    await user.updateCard(CHALLENGED)
    const subscription = await user.subscription('main')
    const payment = await expectRequiredPayment(subscription.endTrial())
    expect(await expectRequiredPayment(subscription.endTrial())).toBe(payment)
    await test.settle()
    expect((await user.subscription('main')).onTrial()).toBe(true)
    test.sandbox.stripe.completeAuthentication(payment)
    await subscription.endTrial()
    await expectPlan({ test, user, subscription }, 'monthly', 1000)
    expect((await user.subscription('main')).onTrial()).toBe(false)
  })

  it('end the trial by skipTrial() and swap() only after the authentication, while a swap that keeps the trial needs no payment', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').trialDays(14).create('pm_card_visa')
    await user.updateCard(CHALLENGED)
    const subscription = await user.subscription('main')
    const payment = await expectRequiredPayment(subscription.skipTrial().swap('yearly'))
    await subscription.swap('yearly')
    expect(() => test.sandbox.stripe.completeAuthentication(payment)).toThrow()
    await expectPlan({ test, user, subscription }, 'yearly', 0)
    expect((await user.subscription('main')).onTrial()).toBe(true)
  })

  it('are refused without any change if Stripe cannot delay them until the customer authenticates', async () => {
    const it = await startChallengedSubscription()
    await it.subscription.addPrice('storage')
    await it.test.advance({ months: 1 })
    const taken = sumChargedCents(it.test, it.user)
    const change = it.subscription.swap([{ price: 'yearly' }])
    await expect(change).rejects.toThrow(PaymentFailed)
    expect(sumChargedCents(it.test, it.user)).toBe(taken)
    expect((await it.user.subscription('main')).items()).toHaveLength(2)
  })
})

describe('a planned swap, when an immediate swap requires authentication,', () => {
  it.each(['authenticated', 'lapsed'])(
    'is removed if the customer authenticates, and kept if the payment expires (case: %s)',
    async (outcome) => {
      const { test, user, subscription } = await startChallengedSubscription()
      await subscription.swapAtPeriodEnd('pro')
      const payment = await expectRequiredPayment(subscription.swap('yearly'))
      if (outcome === 'authenticated') test.sandbox.stripe.completeAuthentication(payment)
      else await test.advance({ days: 1 })
      await test.settle()
      await user.sync()
      const planned = await (await user.subscription('main')).plannedSwap()
      expect(planned?.price ?? null).toBe(outcome === 'authenticated' ? null : 'pro')
      const stripe = await stripeSdk(test)
      const { data } = await stripe.subscriptions.list({ customer: user.providerId ?? '' })
      expect(data[0]?.pending_update).toBeNull()
    },
  )
})
