import { describe, expect, it } from 'vitest'
import {
  type BillableUser,
  PaymentActionRequired,
  PaymentFailed,
  ProviderUnavailable,
  type Subscription,
} from '../src/index.ts'
import { hasty, LOSSES, loseAnswer } from './lost-answers.ts'
import { rowsOf, truthAt } from './provider-truth.ts'
import { type FlowTest, start, stripeSdk, takenFrom } from './support.ts'

const CHALLENGED = 'pm_card_authenticationRequired'

interface Challenged {
  readonly test: FlowTest
  readonly user: BillableUser
  readonly subscription: Subscription
}

/** `monthly` is paid; from now on the bank asks before every payment. */
async function challenged(options: Parameters<typeof start>[1] = {}): Promise<Challenged> {
  const test = await start('stripe', options)
  const { user } = test
  const extra = { id: 'storage', unitAmount: 500, interval: 'month', product: 'Extras' } as const
  test.sandbox.stripe.seedPrice(extra)
  await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await user.updateCard(CHALLENGED)
  return { test, user, subscription: await user.subscription('main') }
}

/** What the bank asks for. */
async function asked(change: Promise<unknown>): Promise<string> {
  const error = await change.then(
    () => null,
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(PaymentActionRequired)
  return (error as PaymentActionRequired).payment.id
}

/** It has this plan and nothing waits or is owed; rows are as the provider has it. */
async function expectPlan({ test, user }: Challenged, plan: string, taken: number): Promise<void> {
  await test.settle()
  const subscription = await user.subscription('main')
  expect(await user.subscribedToPlan(plan, 'main')).toBe(true)
  expect(subscription.pastDue()).toBe(false)
  await subscription.requirePaid()
  expect(await subscription.pendingConfirmation()).toBeNull()
  expect((await subscription.amountOwed())?.amount).toBe(0)
  expect((await user.balance()).amount).toBe(0)
  expect(takenFrom(test, user)).toBe(taken)
  const customer = user.providerId ?? ''
  expect(await rowsOf(test.database, user.id)).toEqual(truthAt(test.sandbox, 'stripe', customer))
}

/** The old plan holds, and the payment is waited for. */
async function expectAsked({ test, user }: Challenged, payment: string): Promise<void> {
  await test.settle()
  const subscription = await user.subscription('main')
  expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
  expect(await user.subscribedToPlan('yearly', 'main')).toBe(false)
  expect(await subscription.pendingConfirmation()).toMatchObject({ kind: 'payment', id: payment })
  await expect(subscription.requirePaid()).rejects.toMatchObject({ payment: { id: payment } })
  expect(takenFrom(test, user)).toBe(1000)
}

describe('threat W6 a swap that the bank asks about', () => {
  it('leaves the old plan until the customer has said yes', async () => {
    const it = await challenged()
    const payment = await asked(it.subscription.swap('yearly'))
    await expectAsked(it, payment)
    expect((await it.subscription.amountOwed())?.amount).toBe(9000)
    it.test.sandbox.stripe.completeAuthentication(payment)
    await expectPlan(it, 'yearly', 10_000)
  })

  it('is paid by another card', async () => {
    const it = await challenged()
    const payment = await asked(it.subscription.swap('yearly'))
    await it.user.updateCard('pm_card_visa')
    await it.subscription.payNow()
    await expectPlan(it, 'yearly', 10_000)
    expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
  })

  it('is made by another card when it is asked for again', async () => {
    const it = await challenged()
    const payment = await asked(it.subscription.swap('yearly'))
    await it.user.updateCard('pm_card_visa')
    await it.subscription.swap('yearly')
    await expectPlan(it, 'yearly', 10_000)
    expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
  })

  it.each(['failed', 'unanswered'])(
    'is given up for the old plan, and nothing is credited (%s)',
    async (how) => {
      const it = await challenged()
      const payment = await asked(it.subscription.swap('yearly'))
      if (how === 'failed') it.test.sandbox.stripe.failAuthentication(payment)
      await it.subscription.swap('monthly')
      await expectPlan(it, 'monthly', 1000)
      expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
      await it.test.advance({ days: 3 })
      await expectPlan(it, 'monthly', 1000)
    },
  )

  it('is given up for a third plan', async () => {
    const it = await challenged()
    const payment = await asked(it.subscription.swap('yearly'))
    await it.subscription.swap('pro')
    await expectPlan(it, 'pro', 1000)
    expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
  })

  it.each(['cancel', 'cancelNow'] as const)('is given up by %s()', async (how) => {
    const { test, user, subscription } = await challenged()
    const payment = await asked(subscription.swap('yearly'))
    await subscription[how]()
    expect(() => test.sandbox.stripe.completeAuthentication(payment)).toThrow()
    await test.advance({ months: 2 })
    expect(await user.subscribed('main')).toBe(false)
    expect(takenFrom(test, user)).toBe(1000)
    const open = test.sandbox.stripe.invoices(user.providerId ?? '')
    expect(open.filter(({ status }) => status === 'open')).toEqual([])
  })

  it('lapses after a day, and the old plan goes on', async () => {
    const it = await challenged()
    const payment = await asked(it.subscription.swap('yearly'))
    await it.test.advance({ days: 1 })
    await expectPlan(it, 'monthly', 1000)
    expect(() => it.test.sandbox.stripe.completeAuthentication(payment)).toThrow()
    expect(await asked(it.subscription.swap('yearly'))).not.toBe(payment)
  })

  it('asks for the same payment when it is repeated', async () => {
    const it = await challenged()
    const payment = await asked(it.subscription.swap('yearly'))
    expect(await asked(it.subscription.swap('yearly'))).toBe(payment)
    const other = await (await it.test.another().user(it.user.id)).subscription('main')
    expect(await asked(other.swap('yearly'))).toBe(payment)
    it.test.sandbox.stripe.completeAuthentication(payment)
    await it.subscription.swap('yearly')
    await expectPlan(it, 'yearly', 10_000)
  })

  it('asks again after a no', async () => {
    const it = await challenged()
    const payment = await asked(it.subscription.swap('yearly'))
    it.test.sandbox.stripe.failAuthentication(payment)
    const again = await asked(it.subscription.swap('yearly'))
    it.test.sandbox.stripe.completeAuthentication(again)
    await expectPlan(it, 'yearly', 10_000)
  })

  it('changes nothing when the card is declined', async () => {
    const it = await challenged()
    await asked(it.subscription.swap('yearly'))
    await it.user.updateCard('pm_card_chargeCustomerFail')
    await expect(it.subscription.payNow()).rejects.toThrow(PaymentFailed)
    await expect(it.subscription.swap('yearly')).rejects.toThrow(PaymentFailed)
    await expectPlan(it, 'monthly', 1000)
  })

  it('keeps the tax of the application, also where that is another one now', async () => {
    let tax = 0
    const it = await challenged({ taxPercentage: () => tax })
    tax = 10
    const payment = await asked(it.subscription.swap('yearly'))
    await expectAsked(it, payment)
    it.test.sandbox.stripe.completeAuthentication(payment)
    // 100.00 less the 10.00 that were paid without any tax.
    await expectPlan(it, 'yearly', 1000 + 10_000 + 1000 - 1000 - 100)
  })

  it('resumes with the yes, and not before', async () => {
    const it = await challenged()
    await it.subscription.cancel()
    const payment = await asked(it.subscription.swap('yearly'))
    await it.test.settle()
    expect((await it.user.subscription('main')).onGracePeriod()).toBe(true)
    it.test.sandbox.stripe.completeAuthentication(payment)
    await expectPlan(it, 'yearly', 10_000)
    expect((await it.user.subscription('main')).cancelled()).toBe(false)
  })

  it.each(['cancel', 'cancelAt'] as const)(
    'does not resume what was cancelled again: %s()',
    async (how) => {
      const it = await challenged()
      const { endsAt } = await it.subscription.cancel()
      const payment = await asked(it.subscription.swap('yearly'))
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

  it.each(LOSSES)('asks again after any answer that was lost: %s', async (how) => {
    const test = await start('stripe', { webhooks: false })
    for (let call = 0, wasHit = true; wasHit && call < 30; call++) {
      const user = await test.createUser()
      await user.newSubscription('main', 'monthly').create('pm_card_visa')
      await user.updateCard(CHALLENGED)
      const other = await (await hasty(test).user(user.id)).subscription('main')
      loseAnswer(test, 'stripe', { after: call, how })
      const first = await other.swapAndInvoice('yearly').catch((error: unknown) => error)
      wasHit = test.sandbox.trouble.takeCallTrouble('stripe') === null
      test.sandbox.trouble.clear()
      const subscription = await user.subscription('main')
      if (wasHit && !(first instanceof PaymentActionRequired)) {
        expect(first, `call ${call}`).toBeInstanceOf(ProviderUnavailable)
      }
      const payment = await asked(subscription.swapAndInvoice('yearly'))
      await expectAsked({ test, user, subscription }, payment)
      test.sandbox.stripe.completeAuthentication(payment)
      await subscription.swapAndInvoice('yearly')
      await expectPlan({ test, user, subscription }, 'yearly', 10_000)
    }
  })
})

describe('threat W6 other changes that the bank asks about', () => {
  it('adds a price with the yes', async () => {
    const it = await challenged()
    const payment = await asked(it.subscription.addPriceAndInvoice('storage'))
    await expectAsked(it, payment)
    expect(await asked(it.subscription.addPriceAndInvoice('storage'))).toBe(payment)
    expect((await it.user.subscription('main')).items()).toHaveLength(1)
    it.test.sandbox.stripe.completeAuthentication(payment)
    await it.test.settle()
    expect((await it.user.subscription('main')).items()).toHaveLength(2)
    await it.subscription.addPriceAndInvoice('storage')
  })

  it('ends a trial with the yes', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').trialDays(14).create('pm_card_visa')
    await user.updateCard(CHALLENGED)
    const subscription = await user.subscription('main')
    const payment = await asked(subscription.endTrial())
    expect(await asked(subscription.endTrial())).toBe(payment)
    await test.settle()
    expect((await user.subscription('main')).onTrial()).toBe(true)
    test.sandbox.stripe.completeAuthentication(payment)
    await subscription.endTrial()
    await expectPlan({ test, user, subscription }, 'monthly', 1000)
    expect((await user.subscription('main')).onTrial()).toBe(false)
  })

  it('skips a trial with the yes, and another plan within the trial costs nothing', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').trialDays(14).create('pm_card_visa')
    await user.updateCard(CHALLENGED)
    const subscription = await user.subscription('main')
    const payment = await asked(subscription.skipTrial().swap('yearly'))
    await subscription.swap('yearly')
    expect(() => test.sandbox.stripe.completeAuthentication(payment)).toThrow()
    await expectPlan({ test, user, subscription }, 'yearly', 0)
    expect((await user.subscription('main')).onTrial()).toBe(true)
  })

  it('is refused where Stripe could not hold it back, and changes nothing', async () => {
    const it = await challenged()
    await it.subscription.addPrice('storage')
    await it.test.advance({ months: 1 })
    const taken = takenFrom(it.test, it.user)
    const change = it.subscription.swap([{ price: 'yearly' }])
    await expect(change).rejects.toThrow(PaymentFailed)
    expect(takenFrom(it.test, it.user)).toBe(taken)
    expect((await it.user.subscription('main')).items()).toHaveLength(2)
  })
})

describe('a planned swap beside one that the bank asks about', () => {
  it.each(['yes', 'no'])('is forgotten with the yes, and kept otherwise: %s', async (answer) => {
    const { test, user, subscription } = await challenged()
    await subscription.swapAtPeriodEnd('pro')
    const payment = await asked(subscription.swap('yearly'))
    if (answer === 'yes') test.sandbox.stripe.completeAuthentication(payment)
    else await test.advance({ days: 1 })
    await test.settle()
    await user.sync()
    const planned = await (await user.subscription('main')).plannedSwap()
    expect(planned?.plan ?? null).toBe(answer === 'yes' ? null : 'pro')
    const stripe = await stripeSdk(test)
    const { data } = await stripe.subscriptions.list({ customer: user.providerId ?? '' })
    expect(data[0]?.pending_update).toBeNull()
  })
})
