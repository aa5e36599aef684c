import { describe, expect, it } from 'vitest'
import { type FlowTest, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import { PaymentFailed, SubscriptionEnded } from '../../../index.ts'
import type { BillingTest } from '../../../testing/index.ts'

const CARD = 'fake-valid-visa-nonce'

function atBraintree({ sandbox }: BillingTest, id: string) {
  const found = sandbox.braintree.subscription(id)
  if (!found) throw new Error(`Braintree has no subscription ${id}`)
  return found
}

/** Amounts that were charged, oldest first, in cents. */
function charges({ sandbox, user }: BillingTest): number[] {
  return sandbox.braintree
    .transactions(user.providerId ?? '')
    .filter(({ type, status }) => type === 'sale' && status !== 'processor_declined')
    .sort((a, b) => a.createdAt - b.createdAt)
    .map(({ amount }) => amount)
}

describe('changing the tax at Braintree', () => {
  it("keeps the subscription's price before tax, even if the plan has a new price", async () => {
    let tax = 10
    const test = await start('braintree', { taxPercentage: () => tax })
    const subscription = await test.user.newSubscription('main', 'monthly').create(CARD)
    expect(sumChargedCents(test, test.user)).toBe(1100)
    test.sandbox.braintree.definePlan({ id: 'monthly', price: 3000, billingFrequency: 1 })
    tax = 20
    await subscription.syncTaxPercentage()
    await subscription.syncTaxPercentage()
    expect(sumChargedCents(test, test.user), 'nothing is charged for it').toBe(1100)
    await test.advance({ months: 1 })
    expect(charges(test)).toEqual([1100, 1200])
  })

  it('causes no proration, even if proration is enabled in the control panel', async () => {
    let tax = 0
    const test = await start('braintree', { taxPercentage: () => tax })
    test.sandbox.braintree.changeSettings({ prorate: true })
    const subscription = await test.user.newSubscription('main', 'monthly').create(CARD)
    tax = 50
    await subscription.syncTaxPercentage()
    expect(charges(test)).toEqual([1000])
  })

  it('does not change the tax on earlier invoices', async () => {
    let tax = 10
    const test = await start('braintree', { taxPercentage: () => tax })
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create(CARD)
    await test.advance({ months: 1 })
    tax = 25
    await subscription.syncTaxPercentage()
    await test.advance({ months: 1 })
    tax = 0
    await subscription.swap('yearly')
    const shown = (await user.invoicesIncludingPending()).map(({ data }) => [
      data.total,
      data.taxes.map(({ percentage, amount }) => `${percentage} %: ${amount}`),
    ])
    // 100.00 less the month that was just paid.
    expect(shown).toEqual([
      [8750, []],
      [1250, ['25 %: 250']],
      [1100, ['10 %: 100']],
      [1100, ['10 %: 100']],
    ])
    const [, , , first] = await user.invoicesIncludingPending()
    expect((await user.findInvoice(first?.id ?? ''))?.tax()).toBe('$1.00')
  })
})

describe('a coupon for a price with tax at Braintree', () => {
  const COUPONS = { all: 1000, most: 900, some: 333, more: 4000 }

  async function charged(provider: 'stripe' | 'braintree', coupon: string, tax: number) {
    const test = await start(provider, { taxPercentage: () => tax, webhooks: false })
    const { coupons } = await stripeSdk(test)
    for (const [id, amount] of Object.entries(COUPONS)) {
      test.sandbox.braintree.defineDiscount({ id, amount })
      await coupons.create({ id, amount_off: amount, currency: 'usd', duration: 'forever' })
    }
    const card = provider === 'stripe' ? 'pm_card_visa' : CARD
    const taken: number[] = []
    const note = () => taken.push(sumChargedCents(test, test.user))
    const first = test.user.newSubscription('main', 'monthly').withCoupon(coupon)
    const subscription = await first.create(card)
    note()
    await test.sandbox.clock.advance({ months: 1, hours: 2 })
    note()
    await subscription.noProrate().swap('pro')
    await test.sandbox.clock.advance({ months: 1, hours: 2 })
    note()
    await subscription.noProrate().swap('monthly')
    await test.sandbox.clock.advance({ months: 1, hours: 2 })
    note()
    return taken
  }

  it.each(
    Object.keys(COUPONS).flatMap((coupon) =>
      [0, 7.7, 19.6, 20].map((tax) => [coupon, tax] as const),
    ),
  )(
    'is deducted before the tax, as at Stripe, also after swaps (coupon: %s, tax: %d percent)',
    async (coupon, tax) => {
      expect(await charged('braintree', coupon, tax)).toEqual(await charged('stripe', coupon, tax))
    },
  )
})

describe('cancel() during a trial at Braintree', () => {
  async function startTrial(): Promise<FlowTest> {
    return start('braintree')
  }

  it('keeps access until the end of the trial and charges nothing, after webhooks and sync() too', async () => {
    const test = await startTrial()
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').trialDays(10).create(CARD)
    await test.advance({ days: 4 })
    await subscription.cancel()
    expect(atBraintree(test, subscription.providerId).status).toBe('Canceled')
    expect(subscription.endsAt).toEqual(subscription.trialEndsAt)
    await test.settle()
    await user.sync()
    const grace = await user.subscription('main')
    expect([grace.onGracePeriod(), grace.onTrial(), await user.subscribed('main')]).toEqual([
      true,
      true,
      true,
    ])
    await test.advance({ days: 5 })
    expect(await user.subscribed('main')).toBe(true)
    await test.advance({ days: 1 })
    expect(await user.subscribed('main')).toBe(false)
    await test.advance({ months: 2 })
    expect(sumChargedCents(test, user)).toBe(0)
  })

  it('can be undone by resume() for the rest of the trial, on the same terms', async () => {
    const test = await startTrial()
    const { user } = test
    const builder = user.newSubscription('main', 'monthly').withCoupon('SPRING').trialDays(10)
    const old = await builder.create(CARD)
    test.sandbox.braintree.definePlan({ id: 'monthly', price: 3000, billingFrequency: 1 })
    await test.advance({ days: 4 })
    await (await user.subscription('main')).cancel()
    await user.updateCard('fake-valid-mastercard-nonce')
    const stale = await user.subscription('main')
    const resumed = await (await user.subscription('main')).resume()
    const again = await stale.resume()
    expect(again.providerId).toBe(resumed.providerId)
    expect(resumed.trialEndsAt).toEqual(old.trialEndsAt)
    expect([resumed.onTrial(), resumed.cancelled(), resumed.name]).toEqual([true, false, 'main'])
    await test.settle()
    const rows = await user.subscriptions()
    expect(rows.map((row) => row.ended())).toEqual([false, true])
    await test.advance({ days: 5 })
    expect(sumChargedCents(test, user)).toBe(0)
    await test.advance({ days: 1 })
    expect(sumChargedCents(test, user), 'the price of the first day, less the coupon').toBe(700)
    await test.advance({ months: 2 })
    expect(charges(test)).toEqual([700, 700, 1000])
  })

  it('can be undone by a swap, but not after cancelNow()', async () => {
    const test = await startTrial()
    const { user } = test
    const old = await user.newSubscription('main', 'monthly').trialDays(10).create(CARD)
    await (await user.subscription('main')).cancel()
    const preview = await (await user.subscription('main')).previewSwap('pro')
    expect(preview).toMatchObject({ total: { amount: 2500 }, immediately: false })
    expect(preview.date).toEqual(old.trialEndsAt)
    const swapped = await (await user.subscription('main')).swap('pro')
    expect(swapped.trialEndsAt).toEqual(old.trialEndsAt)
    await swapped.cancel()
    expect(swapped.onGracePeriod()).toBe(true)
    const ended = await swapped.cancelNow()
    expect(ended.ended()).toBe(true)
    await test.settle()
    await user.sync()
    expect(await user.subscribed('main')).toBe(false)
    await expect((await user.subscription('main')).swap('pro')).rejects.toThrow(SubscriptionEnded)
    await test.advance({ months: 1 })
    expect(sumChargedCents(test, user)).toBe(0)
  })

  it('differs from a cancellation in the control panel, which ends access immediately', async () => {
    const test = await startTrial()
    const { user, sandbox } = test
    const subscription = await user.newSubscription('main', 'monthly').trialDays(10).create(CARD)
    const { default: braintree } = await import('braintree')
    const gateway = new braintree.BraintreeGateway(sandbox.braintree.config as never)
    await gateway.subscription.cancel(subscription.providerId)
    await test.settle()
    expect(await user.subscribed('main')).toBe(false)
  })
})

describe('cancel() with credit at Braintree', () => {
  async function startWithCredit(): Promise<FlowTest> {
    const test = await start('braintree')
    const yearly = await test.user.newSubscription('main', 'yearly').create(CARD)
    await test.advance({ days: 10 })
    // 97.26 of 100.00 are left; the first month costs 10.00.
    await yearly.swap('monthly')
    return test
  }

  it('keeps access for as long as the credit lasts: for whole cycles, then for days', async () => {
    const test = await startWithCredit()
    const { user } = test
    expect(atBraintree(test, (await user.subscription('main')).providerId).balance).toBe(-8726)
    const cancelled = await (await user.subscription('main')).cancel()
    // From 25 January: this month and eight more until 25 October, then 7.26 of 10.00 for 31 days.
    expect(cancelled.endsAt).toEqual(new Date('2026-11-17T00:00:00Z'))
    await test.advance({ months: 5 })
    expect((await user.subscription('main')).endsAt).toEqual(cancelled.endsAt)
    await test.advance({ months: 4, days: 20 })
    const { providerId, providerStatus, endsAt } = await user.subscription('main')
    expect([providerStatus, atBraintree(test, providerId).balance]).toEqual(['Expired', -726])
    expect(endsAt).toEqual(cancelled.endsAt)
    await user.sync()
    expect(await user.subscribed('main')).toBe(true)
    await test.advance({ days: 4 })
    expect(await user.subscribed('main')).toBe(false)
    expect(charges(test)).toEqual([10_000])
  })

  it('keeps all credit if it is undone, whether before or after Braintree has ended the subscription', async () => {
    const test = await startWithCredit()
    const { user } = test
    await (await user.subscription('main')).cancel()
    const resumed = await (await user.subscription('main')).resume()
    expect(atBraintree(test, resumed.providerId)).toMatchObject({
      balance: -8726,
      neverExpires: true,
    })
    await resumed.cancel()
    await test.advance({ months: 9, days: 10 })
    const late = await (await user.subscription('main')).resume()
    // 13 of the 23 days that 7.26 paid for are left: 4.10.
    expect(charges(test)).toEqual([10_000, 590])
    await test.advance({ months: 1 })
    expect(charges(test)).toEqual([10_000, 590, 1000])
    expect(late.cancelled()).toBe(false)
  })

  it('ends access at the end of the period if there is no credit', async () => {
    const test = await start('braintree')
    const subscription = await test.user.newSubscription('main', 'monthly').create(CARD)
    await subscription.cancel()
    expect(subscription.endsAt).toEqual(new Date('2026-02-15T00:00:00Z'))
  })
})

describe('a past-due charge at Braintree', () => {
  async function startPastDue(plan: string): Promise<FlowTest> {
    const test = await start('braintree')
    await test.user.newSubscription('main', plan).create(CARD)
    test.sandbox.trouble.declineNextCharge(test.user.providerId ?? '', '2001')
    await test.advance({ months: plan === 'yearly' ? 12 : 1 })
    expect((await test.user.subscription('main')).pastDue()).toBe(true)
    return test
  }

  it.each([
    ['monthly', 'yearly', [1000, 1000, 9000]],
    ['yearly', 'monthly', [10_000, 10_000]],
    ['monthly', 'pro', [1000, 1000, 1500]],
  ])('is collected when %s is swapped for %s', async (from, to, expected) => {
    const test = await startPastDue(from)
    const subscription = await test.user.subscription('main')
    const before = sumChargedCents(test, test.user)
    const preview = await subscription.previewSwap(to)
    await subscription.swap(to)
    expect(charges(test)).toEqual(expected)
    expect(preview.total.amount).toBe(sumChargedCents(test, test.user) - before)
    expect(await test.user.subscribedToPlan(to, 'main')).toBe(true)
  })

  it('prevents the swap if it cannot be collected, and requirePaid() throws an error with the reason', async () => {
    const test = await startPastDue('monthly')
    const subscription = await test.user.subscription('main')
    await expect(subscription.requirePaid()).rejects.toMatchObject({ providerCode: '2001' })
    test.sandbox.trouble.declineNextCharge(test.user.providerId ?? '', '2001')
    await expect(subscription.swap('yearly')).rejects.toThrow(PaymentFailed)
    expect(await test.user.subscribedToPlan('monthly', 'main')).toBe(true)
    expect(charges(test)).toEqual([1000])
  })
})
