import { describe, expect, it } from 'vitest'
import { start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import { InvalidArgument, type Subscription } from '../../../index.ts'

/** Changes after which the planned swap must be planned again. */
const CHANGES: readonly [string, (main: Subscription) => Promise<unknown>][] = [
  ['incrementQuantity()', (main) => main.incrementQuantity(1, 'seat')],
  ['addPriceAndInvoice()', (main) => main.addPriceAndInvoice('storage')],
  ['removePrice()', (main) => main.removePrice('seat')],
  ['applyCoupon()', (main) => main.applyCoupon('SPRING')],
]

/** Subscribes to `monthly` with two seats, and plans a swap to `pro`. */
async function planned() {
  const test = await start('stripe', { coupon: true, webhooks: false })
  for (const id of ['seat', 'storage']) {
    test.sandbox.stripe.seedPrice({ id, unitAmount: 500, interval: 'month', product: 'Extras' })
  }
  const builder = test.user.newSubscription('main', 'monthly').price('seat', 2)
  const main = await (await builder.create('pm_card_visa')).swapAtPeriodEnd('pro')
  return { ...test, main }
}

describe.each(['pro', 'seat'])('a planned swap whose price "%s" was archived', (archived) => {
  it.each(CHANGES)(
    'is kept, and %s is rejected until the planned swap is cancelled',
    async (_name, change) => {
      const test = await planned()
      const { main, user } = test
      const stripe = await stripeSdk(test)
      await stripe.prices.update(archived, { active: false })
      const before = await main.plannedSwap()
      await expect(change(main)).rejects.toThrow(InvalidArgument)
      const same = await user.subscription('main')
      expect(same.items()).toEqual(main.items())
      expect(await same.plannedSwap()).toEqual(before)
      expect(await same.discounts()).toEqual([])
      expect(sumChargedCents(test, user)).toBe(2000)
      await change(await same.cancelPlannedSwap())
      expect((await user.sync()).drift).toEqual([])
    },
  )
})

describe.each<[string, readonly string[]]>([
  ['alone', ['better']],
  ['as well as the planned price', ['better', 'pro']],
  ['as well as the present price', ['better', 'monthly']],
])('a swap to an archived price (archived: %s)', (_name, archived) => {
  it.each<[string, (main: Subscription) => Promise<unknown>]>([
    ['swap()', (main) => main.swap('better')],
    ['swapAndInvoice()', (main) => main.swapAndInvoice('better')],
    ['swap() of all prices', (main) => main.swap([{ price: 'better' }, { price: 'seat' }])],
  ])('is rejected, and the planned swap is kept: %s', async (_call, swap) => {
    const test = await planned()
    const { main, user, sandbox } = test
    sandbox.stripe.seedPrice({ id: 'better', unitAmount: 4000, interval: 'month', product: 'Best' })
    const stripe = await stripeSdk(test)
    for (const price of archived) await stripe.prices.update(price, { active: false })
    const before = await main.plannedSwap()
    await expect(swap(main)).rejects.toThrow(InvalidArgument)
    const same = await user.subscription('main')
    expect(await same.plannedSwap()).toEqual(before)
    expect(same.items()).toEqual(main.items())
    expect(sumChargedCents(test, user)).toBe(2000)
    expect((await user.sync()).drift).toEqual([])
  })
})

it('swapAtPeriodEnd() explains how to plan a swap for a customer who still has an archived price', async () => {
  const test = await start('stripe', { webhooks: false })
  const { user } = test
  const main = await user.newSubscription('main', 'monthly').create('pm_card_visa')
  const stripe = await stripeSdk(test)
  await stripe.prices.update('monthly', { active: false })
  await expect(main.swapAtPeriodEnd('pro')).rejects.toThrow(
    new InvalidArgument(
      "'monthly' is archived, so Stripe cannot plan a swap with it: activate it until the swap is planned, or swap() now",
    ),
  )
  expect(await main.plannedSwap()).toBeNull()
  await stripe.prices.update('monthly', { active: true })
  const planned = await main.swapAtPeriodEnd('pro')
  await stripe.prices.update('monthly', { active: false })
  expect(await planned.plannedSwap()).toMatchObject({ price: 'pro' })
  await test.advance({ days: 32 })
  await user.sync()
  expect(await user.subscribedToPlan('pro', 'main')).toBe(true)
})
