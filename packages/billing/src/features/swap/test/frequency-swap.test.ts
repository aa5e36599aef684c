import { describe, expect, it } from 'vitest'
import { start, sumChargedCents } from '../../../../test/support.ts'
import type { BillingTest } from '../../../testing/index.ts'

const CARD = 'fake-valid-visa-nonce'

/** Returns the credit of the new subscription, in cents. */
function creditOf({ sandbox }: BillingTest, id: string): number {
  const { discounts = [] } = sandbox.braintree.subscription(id) ?? {}
  return discounts
    .filter((discount) => discount.id === 'plan-credit')
    .reduce(
      (sum, { amount, numberOfBillingCycles }) => sum + amount * (numberOfBillingCycles ?? 0),
      0,
    )
}

describe('the credit for unused time after a swap to another billing frequency at Braintree', () => {
  it('is neither lost nor granted twice by swapping back and forth', async () => {
    const test = await start('braintree', { webhooks: false })
    const { user } = test
    let subscription = await user.newSubscription('main', 'yearly').create(CARD)
    for (const plan of ['monthly', 'yearly', 'quarterly', 'yearly']) {
      subscription = await subscription.swap(plan)
    }
    expect(sumChargedCents(test, user)).toBe(10_000)
    expect(creditOf(test, subscription.providerId)).toBe(10_000)
  })

  it('is only the unused half after half of the billed time has passed', async () => {
    const test = await start('braintree')
    const { user, sandbox } = test
    const yearly = await user.newSubscription('main', 'yearly').create(CARD)
    const monthly = await yearly.swap('monthly')
    await test.advance({ months: 4 })
    expect(sumChargedCents(test, user)).toBe(10_000)
    const again = await monthly.swap('yearly')
    // Four months are used up, and the fifth has just begun.
    expect(creditOf(test, again.providerId)).toBe(6000)
    expect(sumChargedCents(test, user)).toBe(14_000)
    expect(sandbox.braintree.subscriptions(user.providerId ?? '')).toHaveLength(3)
  })

  it('includes the tax that was paid, but not the discount of a coupon', async () => {
    const test = await start('braintree', { taxPercentage: () => 19, webhooks: false })
    const { user } = test
    const old = await user.newSubscription('main', 'monthly').withCoupon('SPRING').create(CARD)
    // 7.00 and its tax.
    expect(sumChargedCents(test, user)).toBe(833)
    const made = await old.swap('yearly')
    expect(creditOf(test, made.providerId)).toBe(833)
    // 100.00 less the second cycle of the coupon, plus tax, less the credit.
    expect(sumChargedCents(test, user)).toBe(833 + 11_543 - 833)
  })

  it('is not given with noProrate()', async () => {
    const test = await start('braintree', { webhooks: false })
    const old = await test.user.newSubscription('main', 'monthly').create(CARD)
    await old.noProrate().swap('yearly')
    expect(sumChargedCents(test, test.user)).toBe(11_000)
  })

  it('is kept, together with the old subscription, if the payment for the new plan is declined', async () => {
    const test = await start('braintree', { webhooks: false })
    const { user, sandbox } = test
    const old = await user.newSubscription('main', 'monthly').create(CARD)
    sandbox.trouble.declineNextCharge(user.providerId ?? '', '2001')
    await expect(old.swap('yearly')).rejects.toMatchObject({ providerCode: '2001' })
    expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
    expect(sandbox.braintree.subscription(old.providerId)?.status).toBe('Active')
    await test.advance({ minutes: 1 })
    await old.swap('yearly')
    expect(await user.subscribedToPlan('yearly', 'main')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(10_000)
  })

  it('is not given during a trial, and the end of the trial stays the same', async () => {
    const test = await start('braintree')
    const old = await test.user.newSubscription('main', 'monthly').trialDays(10).create(CARD)
    await test.advance({ days: 4 })
    const made = await old.swap('yearly')
    expect(made.trialEndsAt).toEqual(old.trialEndsAt)
    await test.advance({ days: 7 })
    expect(sumChargedCents(test, test.user)).toBe(10_000)
  })
})
