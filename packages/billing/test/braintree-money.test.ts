import { describe, expect, it } from 'vitest'
import { PaymentFailed, SubscriptionEnded } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'
import { type FlowTest, start, stripeSdk, takenFrom } from './support.ts'

const CARD = 'fake-valid-visa-nonce'

function atBraintree({ sandbox }: BillingTest, id: string) {
  const found = sandbox.braintree.subscription(id)
  if (!found) throw new Error(`Braintree has no subscription ${id}`)
  return found
}

/** Sums that were taken one after the other, in cents. */
function charges({ sandbox, user }: BillingTest): number[] {
  return sandbox.braintree
    .transactions(user.providerId ?? '')
    .filter(({ type, status }) => type === 'sale' && status !== 'processor_declined')
    .sort((a, b) => a.createdAt - b.createdAt)
    .map(({ amount }) => amount)
}

describe('another tax', () => {
  it('leaves the price that was agreed, whatever the plan costs by now', async () => {
    let tax = 10
    const test = await start('braintree', { taxPercentage: () => tax })
    const subscription = await test.user.newSubscription('main', 'monthly').create(CARD)
    expect(takenFrom(test, test.user)).toBe(1100)
    test.sandbox.braintree.definePlan({ id: 'monthly', price: 3000, billingFrequency: 1 })
    tax = 20
    await subscription.syncTaxPercentage()
    await subscription.syncTaxPercentage()
    expect(takenFrom(test, test.user), 'nothing is charged for it').toBe(1100)
    await test.advance({ months: 1 })
    expect(charges(test)).toEqual([1100, 1200])
  })

  it('does not prorate, also where the control panel says so', async () => {
    let tax = 0
    const test = await start('braintree', { taxPercentage: () => tax })
    test.sandbox.braintree.changeSettings({ prorate: true })
    const subscription = await test.user.newSubscription('main', 'monthly').create(CARD)
    tax = 50
    await subscription.syncTaxPercentage()
    expect(charges(test)).toEqual([1000])
  })

  it('is not shown on what was charged before', async () => {
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
    // 100.00 less the month that has just been paid.
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

describe('a coupon against tax', () => {
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
    const note = () => taken.push(takenFrom(test, test.user))
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
  )('takes %s off before a tax of %d as at Stripe, from plan to plan', async (coupon, tax) => {
    expect(await charged('braintree', coupon, tax)).toEqual(await charged('stripe', coupon, tax))
  })
})

describe('cancel() in a trial', () => {
  async function startTrial(): Promise<FlowTest> {
    return start('braintree')
  }

  it('keeps access to its end, charges nothing, and neither event nor sync cuts it short', async () => {
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
    expect(takenFrom(test, user)).toBe(0)
  })

  it('is taken back by resume() for the rest of the trial, with the same terms', async () => {
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
    expect(takenFrom(test, user)).toBe(0)
    await test.advance({ days: 1 })
    expect(takenFrom(test, user), 'the price of the first day, less the coupon').toBe(700)
    await test.advance({ months: 2 })
    expect(charges(test)).toEqual([700, 700, 1000])
  })

  it('is taken back by a swap, and ended for good by cancelNow()', async () => {
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
    expect(takenFrom(test, user)).toBe(0)
  })

  it('ends at once where the control panel cancels', async () => {
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

describe('cancel() with credit', () => {
  async function startWithCredit(): Promise<FlowTest> {
    const test = await start('braintree')
    const yearly = await test.user.newSubscription('main', 'yearly').create(CARD)
    await test.advance({ days: 10 })
    // 97.26 of 100.00 are left; the first month takes 10.00.
    await yearly.swap('monthly')
    return test
  }

  it('goes on as long as it pays: whole cycles, then days', async () => {
    const test = await startWithCredit()
    const { user } = test
    expect(atBraintree(test, (await user.subscription('main')).providerId).balance).toBe(-8726)
    const cancelled = await (await user.subscription('main')).cancel()
    // From 25 January: this month and eight more to 25 October, then 7.26 of 10.00 for 31 days.
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

  it('loses nothing when it is taken back, before and after Braintree has ended it', async () => {
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
    // 13 of the 23 days that 7.26 paid are left: 4.10.
    expect(charges(test)).toEqual([10_000, 590])
    await test.advance({ months: 1 })
    expect(charges(test)).toEqual([10_000, 590, 1000])
    expect(late.cancelled()).toBe(false)
  })

  it('ends with the period where there is none', async () => {
    const test = await start('braintree')
    const subscription = await test.user.newSubscription('main', 'monthly').create(CARD)
    await subscription.cancel()
    expect(subscription.endsAt).toEqual(new Date('2026-02-15T00:00:00Z'))
  })
})

describe('a charge that is past due', () => {
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
    const before = takenFrom(test, test.user)
    const preview = await subscription.previewSwap(to)
    await subscription.swap(to)
    expect(charges(test)).toEqual(expected)
    expect(preview.total.amount).toBe(takenFrom(test, test.user) - before)
    expect(await test.user.subscribedToPlan(to, 'main')).toBe(true)
  })

  it('stops the swap while it cannot be collected, and requirePaid() says why', async () => {
    const test = await startPastDue('monthly')
    const subscription = await test.user.subscription('main')
    await expect(subscription.requirePaid()).rejects.toMatchObject({ providerCode: '2001' })
    test.sandbox.trouble.declineNextCharge(test.user.providerId ?? '', '2001')
    await expect(subscription.swap('yearly')).rejects.toThrow(PaymentFailed)
    expect(await test.user.subscribedToPlan('monthly', 'main')).toBe(true)
    expect(charges(test)).toEqual([1000])
  })
})
