import { expect, it } from 'vitest'
import { start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import { type Subscription, SubscriptionEnded } from '../../../index.ts'

const CALLS: readonly [string, (main: Subscription) => Promise<unknown>][] = [
  ['swap()', (main) => main.swap('pro')],
  ['previewSwap()', (main) => main.previewSwap('pro')],
  ['swapAtPeriodEnd()', (main) => main.swapAtPeriodEnd('pro')],
  ['addPrice()', (main) => main.addPrice('seat')],
  ['preview()', (main) => main.preview({ add: 'seat', quantity: 1 })],
  ['updateQuantity()', (main) => main.updateQuantity(2)],
  ['cancelAt()', (main) => main.cancelAt(new Date('2026-05-01T00:00:00Z'))],
  ['pause()', (main) => main.pause()],
  ['applyCoupon()', (main) => main.applyCoupon('SPRING')],
  ['payNow()', (main) => main.payNow()],
]

it.each(CALLS)(
  '%s throws SubscriptionEnded after the subscription was ended in the dashboard, and another one can be created',
  async (_name, call) => {
    const test = await start('stripe', { coupon: true, webhooks: false })
    const { user } = test
    test.sandbox.stripe.seedPrice({
      id: 'seat',
      unitAmount: 500,
      interval: 'month',
      product: 'Seat',
    })
    const main = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await (await stripeSdk(test)).subscriptions.cancel(main.providerId)
    await expect(call(main)).rejects.toThrow(SubscriptionEnded)
    await user.newSubscription('main', 'pro').create()
    expect(await user.subscribedToPlan('pro', 'main')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(3500)
  },
)
