import { describe, expect, it } from 'vitest'
import { AlreadySubscribed, NotOnGracePeriod, PaymentFailed } from '../src/index.ts'
import {
  countProviderSubscriptions,
  PROVIDERS,
  pickComparableState,
  start,
  sumChargedCents,
} from './support.ts'

describe.each(PROVIDERS)('a subscription at $provider', (given) => {
  const { provider, card, otherCard, declined, brand, otherLastFour } = given

  it('is created, stored and charged once', async () => {
    const test = await start(provider)
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    expect(await user.subscribed('main')).toBe(true)
    expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
    expect(await user.subscribedToPlan('yearly', 'main')).toBe(false)
    expect(await user.subscribed('other')).toBe(false)
    expect(subscription).toMatchObject({ name: 'main', providerPlan: 'monthly', quantity: 1 })
    expect(user).toMatchObject({ cardBrand: brand })
    await test.settle()
    expect(await test.billing.webhooks.pending()).toEqual([])
    expect(await user.subscriptions()).toHaveLength(1)
    expect(countProviderSubscriptions(test, user)).toBe(1)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('is charged when the trial ends, and renews', async () => {
    const test = await start(provider)
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').trialDays(10).create(card)
    expect(subscription.onTrial()).toBe(true)
    expect(await user.onTrial('main')).toBe(true)
    expect(await user.onTrial()).toBe(false)
    expect(sumChargedCents(test, user)).toBe(0)
    await test.advance({ days: 11 })
    expect(await user.onTrial('main')).toBe(false)
    expect((await user.subscription('main')).recurring()).toBe(true)
    expect(sumChargedCents(test, user)).toBe(1000)
    await test.advance({ months: 2 })
    expect(sumChargedCents(test, user)).toBe(3000)
  })

  it('is charged less with a coupon', async () => {
    const test = await start(provider, { coupon: true })
    await test.user.newSubscription('main', 'monthly').withCoupon('SPRING').create(card)
    expect(sumChargedCents(test, test.user)).toBe(700)
  })

  it('is charged with the tax percentage, while single charges are not', async () => {
    const test = await start(provider, { taxPercentage: () => 19.25 })
    await test.user.newSubscription('main', 'monthly').create(card)
    expect(sumChargedCents(test, test.user)).toBe(1193)
    await test.user.charge(given.ten)
    expect(sumChargedCents(test, test.user)).toBe(2193)
  })

  it('keeps access until the end of the period after cancel(), and can be resumed until then', async () => {
    const test = await start(provider)
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await subscription.cancel()
    expect(subscription.cancelled()).toBe(true)
    expect(subscription.onGracePeriod()).toBe(true)
    expect(await user.subscribed('main')).toBe(true)
    await subscription.resume()
    expect(subscription.cancelled()).toBe(false)
    expect(sumChargedCents(test, user)).toBe(1000)
    await subscription.cancel()
    await test.advance({ days: 32 })
    expect(await user.subscribed('main')).toBe(false)
    const ended = await user.subscription('main')
    expect(ended.ended()).toBe(true)
    await expect(ended.resume()).rejects.toThrow(NotOnGracePeriod)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('ends immediately with cancelNow(), even in a trial', async () => {
    const test = await start(provider)
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').trialDays(7).create(card)
    await subscription.cancelNow()
    expect(await user.subscribed('main')).toBe(false)
    expect(await user.onTrial('main')).toBe(false)
    await subscription.cancelNow()
    await test.advance({ days: 40 })
    expect(sumChargedCents(test, user)).toBe(0)
  })

  it('can be created again after it ended', async () => {
    const test = await start(provider)
    const { user } = test
    const first = await user.newSubscription('main', 'monthly').create(card)
    await first.cancelNow()
    await test.advance({ minutes: 1 })
    const second = await user.newSubscription('main', 'monthly').create()
    expect(second.providerId).not.toBe(first.providerId)
    expect(await user.subscribed('main')).toBe(true)
    expect(await user.subscriptions()).toHaveLength(2)
  })

  it('keeps its trial when swapped to a plan of the same frequency', async () => {
    const test = await start(provider)
    const subscription = await test.user
      .newSubscription('main', 'monthly')
      .trialDays(9)
      .create(card)
    const before = subscription.trialEndsAt
    const swapped = await subscription.swap('pro')
    expect(pickComparableState(swapped)).toMatchObject({ plan: 'pro', trialEndsAt: before })
    expect(swapped.onTrial()).toBe(true)
    await test.advance({ days: 10 })
    expect(sumChargedCents(test, test.user)).toBe(2500)
  })

  it('ends its trial on a swap with skipTrial()', async () => {
    const test = await start(provider)
    const subscription = await test.user
      .newSubscription('main', 'monthly')
      .trialDays(9)
      .create(card)
    const swapped = await subscription.skipTrial().swap('pro')
    expect(swapped.onTrial()).toBe(false)
    expect(await test.user.subscribedToPlan('pro', 'main')).toBe(true)
    expect(sumChargedCents(test, test.user)).toBe(2500)
    await test.settle()
    expect(await test.user.subscribedToPlan('pro', 'main')).toBe(true)
  })

  it('credits the unused time when swapped to another frequency', async () => {
    const test = await start(provider)
    const subscription = await test.user.newSubscription('main', 'monthly').create(card)
    const preview = await subscription.previewSwap('yearly')
    expect(preview).toMatchObject({ immediately: true, total: { amount: 9000, currency: 'usd' } })
    await subscription.swap('yearly')
    expect(await test.user.subscribedToPlan('yearly', 'main')).toBe(true)
    expect(sumChargedCents(test, test.user)).toBe(10_000)
    await test.settle()
    expect(await test.user.subscribedToPlan('yearly', 'main')).toBe(true)
  })

  it('is resumed if it is swapped in the grace period', async () => {
    const test = await start(provider)
    const subscription = await test.user.newSubscription('main', 'monthly').create(card)
    await subscription.cancel()
    const swapped = await subscription.swap('pro')
    expect(swapped.cancelled()).toBe(false)
    expect(swapped.providerPlan).toBe('pro')
  })

  it('is returned by create() when it exists already, and rejects create() with another plan', async () => {
    const test = await start(provider)
    const { user } = test
    const first = await user.newSubscription('main', 'monthly').create(card)
    const again = await user.newSubscription('main', 'monthly').create(card)
    expect(again.providerId).toBe(first.providerId)
    await expect(user.newSubscription('main', 'pro').create(card)).rejects.toThrow(
      AlreadySubscribed,
    )
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('is not created when the card is declined', async () => {
    const test = await start(provider)
    const { user } = test
    const refused = user.newSubscription('main', 'monthly').create(declined)
    const error = await refused.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(PaymentFailed)
    expect(error).toMatchObject({ provider, providerCode: expect.any(String) })
    expect(await user.subscribed('main')).toBe(false)
    await test.advance({ minutes: 1 })
    await user.newSubscription('main', 'monthly').create(otherCard)
    expect(await user.subscribed('main')).toBe(true)
    expect(user.cardLastFour).toBe(otherLastFour)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('is charged to the new card after updateCard()', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    await user.updateCard(otherCard)
    expect(user.cardLastFour).toBe(otherLastFour)
    await test.advance({ months: 1, hours: 2 })
    expect(sumChargedCents(test, user)).toBe(2000)
    expect(await user.subscribed('main')).toBe(true)
  })
})
