import { describe, expect, it } from 'vitest'
import { type Clock, InvalidArgument } from '../src/index.ts'
import { createCallPrice, type FlowTest, PROVIDERS, start, sumChargedCents } from './support.ts'

/** A server clock that is ahead of the provider's by some seconds, or behind it if negative. */
function createSkewedClock({ sandbox }: FlowTest, seconds: number): Clock {
  return { now: () => new Date(sandbox.clock.nowMs() + seconds * 1000) }
}

describe.each(PROVIDERS)(
  'a server clock that differs from the clock at $provider',
  ({ provider, card }) => {
    it.each([-400, -5, 5, 400])(
      'does not affect the price that previewSwap() shows and swap() charges (difference: %i seconds)',
      async (seconds) => {
        const test = await start(provider)
        const user = await test
          .another({ clock: createSkewedClock(test, seconds) })
          .user(test.user.id)
        const subscription = await user.newSubscription('main', 'monthly').create(card)
        const { total, prorationDate } = await subscription.previewSwap('yearly')
        expect(total.amount).toBe(9000)
        await subscription.swap('yearly', { prorationDate })
        expect(sumChargedCents(test, user)).toBe(10_000)
      },
    )
  },
)

describe('previewSwap() at Stripe with a prorationDate from the previous period', () => {
  it('returns a prorationDate in the current period, which swap() accepts', async () => {
    const test = await start('stripe')
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.advance({ days: 30 })
    const { prorationDate } = await subscription.previewSwap('pro')
    await test.advance({ days: 2 })
    await expect(subscription.swap('pro', { prorationDate })).rejects.toThrow(InvalidArgument)
    const again = await subscription.previewSwap('pro', { prorationDate })
    expect(again.prorationDate).toEqual(new Date('2026-02-15T10:00:00Z'))
    await subscription.swap('pro', { prorationDate: again.prorationDate })
    expect(await user.subscribedToPlan('pro', 'main')).toBe(true)
  })
})

describe('usage() at Stripe in a period that has just begun', () => {
  it.each([0, -5, -90])(
    'returns 0 even if the server clock differs from Stripe’s (by %i seconds)',
    async (seconds) => {
      const test = await start('stripe')
      const user = await test
        .another({ clock: createSkewedClock(test, seconds) })
        .user(test.user.id)
      const builder = user
        .newSubscription('main', 'monthly')
        .meteredPrice(await createCallPrice(test))
      const subscription = await builder.create('pm_card_visa')
      expect(await subscription.usage({ meter: 'calls' })).toMatchObject([{ value: '0' }])
      const never = { meter: 'calls', from: new Date('2030-01-01T00:00:00Z') }
      await expect(subscription.usage(never)).rejects.toThrow(InvalidArgument)
    },
  )
})
