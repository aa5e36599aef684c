import { describe, expect, it } from 'vitest'
import { PROVIDERS, start, stripeSdk } from '../../../../test/support.ts'

describe('discounts()', () => {
  it('returns the end date of a coupon at Stripe', async () => {
    const test = await start('stripe')
    const stripe = await stripeSdk(test)
    const repeating = { duration: 'repeating', duration_in_months: 3 } as const
    await stripe.coupons.create({ id: 'QUARTER', name: 'A quarter', percent_off: 25, ...repeating })
    const builder = test.user.newSubscription('main', 'monthly').withCoupon('QUARTER')
    const subscription = await builder.create('pm_card_visa')
    expect(await subscription.discounts()).toEqual([
      {
        coupon: 'QUARTER',
        name: 'A quarter',
        percentOff: 25,
        amountOff: null,
        endsAt: new Date('2026-04-15T10:00:00Z'),
        billsLeft: null,
      },
    ])
    await test.advance({ months: 3, days: 1 })
    expect(await subscription.discounts()).toEqual([])
  })

  it('returns the number of remaining invoices at Braintree', async () => {
    const { user, ...test } = await start('braintree')
    const builder = user.newSubscription('main', 'monthly').withCoupon('SPRING')
    const subscription = await builder.create('fake-valid-visa-nonce')
    expect(await subscription.discounts()).toMatchObject([
      { coupon: 'SPRING', amountOff: { amount: 300, currency: 'usd' }, billsLeft: 1 },
    ])
    await test.advance({ months: 1, days: 1 })
    expect(await subscription.discounts()).toEqual([])
  })

  it.each(PROVIDERS)('is empty without a coupon at $provider', async ({ provider, card }) => {
    const { user } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    expect(await subscription.discounts()).toEqual([])
  })
})

describe.each(PROVIDERS)('endReason() at $provider', ({ provider, card }) => {
  const code = provider === 'stripe' ? 'insufficient_funds' : '2001'

  it('is null while the subscription is running, and "cancelled" after cancelNow()', async () => {
    const { user } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    expect(await subscription.endReason()).toBeNull()
    await subscription.cancelNow()
    expect(await subscription.endReason()).toBe('cancelled')
  })

  it('is "cancelled" after the grace period', async () => {
    const { user, ...test } = await start(provider)
    await (await user.newSubscription('main', 'monthly').create(card)).cancel()
    await test.advance({ months: 1, days: 2 })
    expect(await (await user.subscription('main')).endReason()).toBe('cancelled')
  })

  it('is "payment_failed" if every attempt to collect the payment failed', async () => {
    const { user, sandbox, ...test } = await start(provider)
    if (provider === 'braintree') sandbox.braintree.changeSettings({ afterRetries: 'cancel' })
    await user.newSubscription('main', 'monthly').create(card)
    for (let attempt = 0; attempt < 10; attempt++) {
      sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    }
    await test.advance({ months: 2 })
    const subscription = await user.subscription('main')
    expect(subscription.ended()).toBe(true)
    expect(await subscription.endReason()).toBe('payment_failed')
  })
})
