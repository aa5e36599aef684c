import { describe, expect, it } from 'vitest'
import { NotOnGracePeriod } from '../../src/index.ts'
import { PROVIDERS, start, sumChargedCents } from '../support.ts'

const DAY = 86_400_000

describe.each(PROVIDERS)(
  'states of a subscription and changes between them, at $provider',
  ({ provider, card }) => {
    it('subscribed() is true while active, on trial, and until ends_at has passed', async () => {
      const test = await start(provider)
      const { user } = test
      expect(await user.subscribed('main')).toBe(false)
      const subscription = await user.newSubscription('main', 'monthly').trialDays(3).create(card)
      expect(await user.subscribed('main')).toBe(true)
      await test.advance({ days: 4 })
      expect(await user.subscribed('main')).toBe(true)
      await subscription.cancel()
      expect(await user.subscribed('main')).toBe(true)
      await test.advance({ days: 32 })
      expect(await user.subscribed('main')).toBe(false)
    })

    it('onTrial() is true before the end of the trial', async () => {
      const test = await start(provider, { webhooks: false })
      const subscription = await test.user
        .newSubscription('main', 'monthly')
        .trialDays(3)
        .create(card)
      const end = subscription.trialEndsAt ?? new Date(0)
      await test.sandbox.clock.advanceTo(new Date(end.getTime() - 1000))
      expect(subscription.onTrial()).toBe(true)
      await test.sandbox.clock.advanceTo(end)
      expect(subscription.onTrial()).toBe(false)
    })

    it('onGenericTrial() is true until the user’s trial_ends_at or the first subscription', async () => {
      const test = await start(provider)
      const { user, sandbox } = test
      expect(await user.onGenericTrial()).toBe(false)
      await user.startGenericTrial(new Date(sandbox.clock.nowMs() + 5 * DAY))
      expect(await user.onGenericTrial()).toBe(true)
      expect(await user.subscribed('main')).toBe(false)
      await user.newSubscription('main', 'monthly').create(card)
      expect(await user.onGenericTrial()).toBe(false)
    })

    it('cancelled() is true after cancel()', async () => {
      const { user } = await start(provider)
      const subscription = await user.newSubscription('main', 'monthly').create(card)
      expect(subscription.cancelled()).toBe(false)
      await subscription.cancel()
      expect(subscription.cancelled()).toBe(true)
    })

    it('onGracePeriod() is true after cancel() until ends_at', async () => {
      const test = await start(provider)
      const subscription = await test.user.newSubscription('main', 'monthly').create(card)
      await subscription.cancel()
      const end = subscription.endsAt?.getTime() ?? 0
      await test.sandbox.clock.advanceTo(new Date(end - 1000))
      expect(subscription.onGracePeriod()).toBe(true)
      await test.sandbox.clock.advanceTo(new Date(end))
      expect(subscription.onGracePeriod()).toBe(false)
      expect(subscription.cancelled()).toBe(true)
    })

    it('create() stores the customer and the billing information', async () => {
      const { user } = await start(provider, { coupon: true })
      await user.newSubscription('main', 'monthly').withCoupon('SPRING').create(card)
      expect(await user.subscribed('main')).toBe(true)
      expect(user).toMatchObject({
        providerId: expect.any(String),
        cardBrand: expect.any(String),
        cardLastFour: expect.any(String),
      })
    })

    it('create() with trial days stores the end of the trial, and charges nothing before it', async () => {
      const test = await start(provider)
      const { user, sandbox } = test
      const subscription = await user.newSubscription('main', 'monthly').trialDays(10).create(card)
      const days = ((subscription.trialEndsAt?.getTime() ?? 0) - sandbox.clock.nowMs()) / DAY
      expect(Math.round(days)).toBe(10)
      await test.advance({ days: 9 })
      expect(sumChargedCents(test, user)).toBe(0)
    })

    it('a subscription on trial is charged as soon as the trial has expired', async () => {
      const test = await start(provider)
      await test.user.newSubscription('main', 'monthly').trialDays(10).create(card)
      await test.advance({ days: 10, hours: 2 })
      expect(sumChargedCents(test, test.user)).toBe(1000)
      expect((await test.user.subscription('main')).recurring()).toBe(true)
    })

    it('cancel() sets ends_at to the end of the paid period', async () => {
      const { user } = await start(provider)
      const subscription = await user.newSubscription('main', 'monthly').create(card)
      await subscription.cancel()
      // Stripe counts to the instant, Braintree to the end of the last paid day.
      const expected = provider === 'stripe' ? '2026-02-15T10:00:00Z' : '2026-02-15T00:00:00Z'
      expect(subscription.endsAt).toEqual(new Date(expected))
    })

    it('a cancelled subscription ends when ends_at passes, without another charge', async () => {
      const test = await start(provider)
      await (await test.user.newSubscription('main', 'monthly').create(card)).cancel()
      await test.advance({ days: 32 })
      const subscription = await test.user.subscription('main')
      expect([subscription.ended(), subscription.valid()]).toEqual([true, false])
      expect(sumChargedCents(test, test.user)).toBe(1000)
    })

    it('cancelNow() ends a subscription immediately', async () => {
      const { user, sandbox } = await start(provider)
      const subscription = await user.newSubscription('main', 'monthly').create(card)
      await subscription.cancelNow()
      expect(await user.subscribed('main')).toBe(false)
      expect(subscription.endsAt?.getTime()).toBeLessThanOrEqual(sandbox.clock.nowMs())
    })

    it('resume() charges nothing, and the billing cycle continues', async () => {
      const test = await start(provider)
      const { user } = test
      const subscription = await user.newSubscription('main', 'monthly').create(card)
      await test.advance({ days: 10 })
      await subscription.cancel()
      await subscription.resume()
      expect(subscription.endsAt).toBeNull()
      expect(sumChargedCents(test, user)).toBe(1000)
      await test.advance({ days: 20 })
      expect(sumChargedCents(test, user)).toBe(1000)
      await test.advance({ days: 2 })
      expect(sumChargedCents(test, user)).toBe(2000)
    })

    it('resume() is rejected for a subscription that is running or has ended', async () => {
      const { user } = await start(provider)
      const subscription = await user.newSubscription('main', 'monthly').create(card)
      await expect(subscription.resume()).rejects.toThrow(NotOnGracePeriod)
      await subscription.cancelNow()
      await expect(subscription.resume()).rejects.toThrow(NotOnGracePeriod)
    })

    it.each(['pro', 'yearly'])('swap() to %s keeps the trial', async (plan) => {
      const { user } = await start(provider)
      const before = await user.newSubscription('main', 'monthly').trialDays(9).create(card)
      const after = await before.swap(plan)
      expect(after.trialEndsAt).toEqual(before.trialEndsAt)
      expect(await user.subscribedToPlan(plan, 'main')).toBe(true)
    })

    it.each(['pro', 'yearly'])('skipTrial() before swap() to %s ends the trial', async (plan) => {
      const test = await start(provider)
      const before = await test.user.newSubscription('main', 'monthly').trialDays(9).create(card)
      const after = await before.skipTrial().swap(plan)
      expect(after.onTrial()).toBe(false)
      expect(sumChargedCents(test, test.user)).toBe(plan === 'pro' ? 2500 : 10_000)
    })

    it('a subscription is cancelled when the provider reports that charges keep failing', async () => {
      const test = await start(provider)
      const { user, sandbox } = test
      await user.newSubscription('main', 'monthly').create(card)
      const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
      for (let n = 0; n < 10; n++) sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
      await test.advance({ days: 75 })
      const subscription = await user.subscription('main')
      expect([subscription.cancelled(), subscription.valid()]).toEqual([true, false])
    })
  },
)

describe('swap() at Stripe', () => {
  it('keeps the quantity', async () => {
    const { user } = await start('stripe')
    const before = await user.newSubscription('main', 'monthly').quantity(4).create('pm_card_visa')
    expect((await before.swap('yearly')).quantity).toBe(4)
  })
})
