import { describe, expect, it } from 'vitest'
import { openDispute } from '../src/features/disputes/test/dispute.ts'
import { PROVIDERS, START, start } from './support.ts'

describe.each(PROVIDERS)('countActive() at $provider', ({ provider, card }) => {
  it('counts the subscriptions that were active() at a given moment', async () => {
    const { user, billing, ...test } = await start(provider)
    const moment = (days: number) => new Date(START.getTime() + days * 86_400_000)
    expect(await billing.countActive(moment(0))).toBe(0)
    await user.newSubscription('trial', 'monthly').trialDays(14).create(card)
    await test.advance({ days: 2 })
    const ending = await user.newSubscription('ending', 'monthly').create(card)
    await ending.cancel()
    const ended = await user.newSubscription('ended', 'monthly').create(card)
    await test.advance({ days: 2 })
    await ended.cancelNow()
    await test.advance({ days: 1 })
    const counts = await Promise.all([-1, 1, 3, 5].map((days) => billing.countActive(moment(days))))
    expect(counts).toEqual([0, 1, 3, 2])
    const active = (await user.subscriptions()).filter((each) => each.active())
    expect(active).toHaveLength(2)
  })

  it('does not count subscriptions whose first payment is missing', async () => {
    if (provider === 'braintree') return
    const { user, billing } = await start(provider)
    await user
      .newSubscription('main', 'monthly')
      .create('pm_card_authenticationRequired')
      .catch(() => undefined)
    expect(await user.subscriptions()).toHaveLength(1)
    expect(await billing.countActive(START)).toBe(0)
  })

  it('does not count subscriptions suspended by a dispute or a pause, if the options say that these suspend access', async () => {
    const test = await start(provider)
    const { user, billing, another } = test
    const made = await user.newSubscription('main', 'monthly').create(card)
    const closed = async (by: 'disputes' | 'pauses') =>
      (await billing.countActive(START)) -
      (await another({ [by]: { access: 'suspend' } }).countActive(START))
    expect([await closed('disputes'), await closed('pauses')]).toEqual([0, 0])
    if (provider === 'stripe') {
      await made.pause()
      expect([await closed('disputes'), await closed('pauses')]).toEqual([0, 1])
      await made.unpause()
    }
    openDispute(test, user)
    await test.settle()
    expect([await closed('disputes'), await closed('pauses')]).toEqual([1, 0])
  })
})

describe.each(PROVIDERS)('countByPrice() at $provider', ({ provider, card }) => {
  it('counts each subscription that has not ended once per price, main or additional', async () => {
    const { user, billing, sandbox, ...test } = await start(provider)
    sandbox.stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'Extras' })
    sandbox.braintree.defineAddOn({ id: 'seat', amount: 500 })
    expect(await billing.countByPrice()).toEqual([])
    const main = await user.newSubscription('main', 'monthly').create(card)
    await main.addPrice('seat')
    const ending = await user.newSubscription('ending', 'monthly').create(card)
    await ending.cancel()
    const ended = await user.newSubscription('ended', 'pro').create(card)
    await ended.cancelNow()
    const uses = (counts: Record<string, number>) =>
      new Set(
        Object.entries(counts).map(([price, subscriptions]) => ({
          provider,
          price,
          subscriptions,
        })),
      )
    expect(new Set(await billing.countByPrice())).toEqual(uses({ monthly: 2, seat: 1 }))
    await test.advance({ days: 40 })
    expect(new Set(await billing.countByPrice())).toEqual(uses({ monthly: 1, seat: 1 }))
  })
})
