import { describe, expect, it } from 'vitest'
import {
  type FlowTest,
  START,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import { InvalidArgument, PaymentFailed, type Subscription, UnknownPrice } from '../../../index.ts'
import type { RequestedItem } from '../../../providers/item.ts'
import { createPlannedItemsUpdate, type ItemChange } from '../../items/subscription.ts'
import { PLANNED_SWAP_RULES } from '../planned-swap.ts'

const CARD = 'pm_card_visa'
const PERIOD_END = new Date('2026-02-15T10:00:00Z')
const day = (days: number) => new Date(START.getTime() + days * 86_400_000)

async function subscribed(options: Parameters<typeof start>[1] = {}) {
  const test = await start('stripe', { coupon: true, webhooks: false, ...options })
  test.sandbox.stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'Seat' })
  const made = await test.user.newSubscription('main', 'monthly').create(CARD)
  return { ...test, made }
}

const main = ({ user }: FlowTest) => user.subscription('main')

/** Reads the id of the subscription's schedule from the sandbox. */
const scheduleOf = ({ sandbox, user }: FlowTest) => {
  const [found] = sandbox.stripe.subscriptions(user.providerId ?? '')
  return (found as unknown as { schedule: string | null }).schedule
}

describe('swapAtPeriodEnd()', () => {
  it('changes nothing until the next period, which is billed at the new price', async () => {
    const test = await subscribed({ webhooks: true })
    const { user } = test
    const planned = await test.made.swapAtPeriodEnd('pro')
    expect([planned.plannedPrice, planned.plannedAt]).toEqual(['pro', PERIOD_END])
    expect(await planned.plannedSwap()).toEqual({
      price: 'pro',
      items: [{ price: 'pro', quantity: 1 }],
      at: PERIOD_END,
    })
    await test.advance({ days: 30 })
    expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
    expect(await user.subscribedToPlan('pro', 'main')).toBe(false)
    expect(sumChargedCents(test, user)).toBe(1000)
    await test.advance({ days: 2 })
    expect(sumChargedCents(test, user)).toBe(1000 + 2500)
    const swapped = await main(test)
    expect([swapped.providerPlan, swapped.plannedPrice, swapped.plannedAt]).toEqual([
      'pro',
      null,
      null,
    ])
    expect(await swapped.plannedSwap()).toBeNull()
    expect(await user.subscribedToPlan('monthly', 'main')).toBe(false)
    // The schedule releases the subscription on the day after the change.
    await test.advance({ days: 2 })
    expect(scheduleOf(test)).toBeNull()
    await test.advance({ months: 1 })
    expect(sumChargedCents(test, user)).toBe(1000 + 2 * 2500)
    expect((await user.sync()).drift).toEqual([])
  })

  it('keeps the coupon, the tax, the quantity and the other prices', async () => {
    const test = await start('stripe', { webhooks: false, taxPercentage: () => 19 })
    const { user, sandbox } = test
    sandbox.stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'Seat' })
    const stripe = await stripeSdk(test)
    await stripe.coupons.create({ id: 'QUARTER', percent_off: 25, duration: 'forever' })
    const builder = user.newSubscription('main', 'monthly').quantity(3).price('seat', 2)
    const made = await builder.withCoupon('QUARTER').create(CARD)
    const first = sumChargedCents(test, user)
    // Each line is reduced by a quarter and has 19 % tax on top.
    const bill = (...lines: number[]) =>
      lines.reduce((sum, line) => {
        const reduced = line - Math.round(line / 4)
        return sum + reduced + Math.round((reduced * 19) / 100)
      }, 0)
    expect(first).toBe(bill(3 * 1000, 2 * 500))
    const planned = await made.swapAtPeriodEnd('pro')
    expect((await planned.plannedSwap())?.items).toEqual([
      { price: 'pro', quantity: 3 },
      { price: 'seat', quantity: 2 },
    ])
    expect(await planned.discounts()).toHaveLength(1)
    await sandbox.clock.advance({ days: 32 })
    expect(sumChargedCents(test, user) - first).toBe(bill(3 * 2500, 2 * 500))
    await sandbox.clock.advance({ months: 1 })
    expect(sumChargedCents(test, user) - first).toBe(2 * bill(3 * 2500, 2 * 500))
    await user.sync()
    const swapped = await main(test)
    expect(swapped.items().map(({ price, quantity }) => `${price} × ${quantity}`)).toEqual([
      'pro × 3',
      'seat × 2',
    ])
    expect(await swapped.discounts()).toMatchObject([{ coupon: 'QUARTER', percentOff: 25 }])
  })

  it('bills exactly the listed prices from the next period on', async () => {
    const test = await subscribed()
    const { user, sandbox } = test
    await test.made.swapAtPeriodEnd([
      { price: 'pro', quantity: 2 },
      { price: 'seat', quantity: 4 },
    ])
    expect(sumChargedCents(test, user)).toBe(1000)
    await sandbox.clock.advance({ days: 32 })
    expect(sumChargedCents(test, user)).toBe(1000 + 2 * 2500 + 4 * 500)
    await user.sync()
    const { providerPlan, quantity } = await main(test)
    expect([providerPlan, quantity]).toEqual(['pro', 2])
  })

  it('starts the new billing interval on the day of the swap if the new price has another interval', async () => {
    const test = await subscribed()
    const { user, sandbox } = test
    await test.made.swapAtPeriodEnd('yearly')
    await sandbox.clock.advance({ days: 32 })
    expect(sumChargedCents(test, user)).toBe(1000 + 10_000)
    await user.sync()
    expect(await (await main(test)).periodEndsAt()).toEqual(new Date('2027-02-15T10:00:00Z'))
    await sandbox.clock.advance({ months: 11 })
    expect(sumChargedCents(test, user)).toBe(1000 + 10_000)
  })

  it('takes effect at the end of a trial, so the first invoice has the new price', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, sandbox } = test
    const made = await user.newSubscription('main', 'monthly').trialDays(9).create(CARD)
    const planned = await made.swapAtPeriodEnd('pro')
    expect([planned.onTrial(), planned.trialEndsAt, planned.plannedAt]).toEqual([
      true,
      day(9),
      day(9),
    ])
    await sandbox.clock.advance({ days: 10 })
    expect(sumChargedCents(test, user)).toBe(2500)
    await user.sync()
    expect(await user.subscribedToPlan('pro', 'main')).toBe(true)
  })

  it('replaces an earlier planned swap, and can be cancelled by cancelPlannedSwap()', async () => {
    const test = await subscribed()
    const { user, sandbox } = test
    await test.made.swapAtPeriodEnd('pro')
    const other = await (await main(test)).swapAtPeriodEnd('quarterly')
    expect(other.plannedPrice).toBe('quarterly')
    for (let i = 0; i < 2; i++) expect((await other.cancelPlannedSwap()).plannedPrice).toBeNull()
    expect([await other.plannedSwap(), scheduleOf(test)]).toEqual([null, null])
    // Swapping to the present price plans nothing.
    await other.swapAtPeriodEnd('monthly')
    expect(scheduleOf(test)).toBeNull()
    await other.swapAtPeriodEnd('pro')
    expect((await other.swapAtPeriodEnd('monthly')).plannedPrice).toBeNull()
    await sandbox.clock.advance({ days: 32 })
    expect(sumChargedCents(test, user)).toBe(2000)
    const operations = await test.database.kysely.selectFrom('billing_operations').selectAll()
    expect(await operations.execute()).toEqual([])
  })

  it('rejects an unknown price, and a subscription without a next period', async () => {
    const test = await subscribed()
    const { made } = test
    for (const plan of ['none', [{ price: 'monthly' }, { price: 'none' }]]) {
      await expect(made.swapAtPeriodEnd(plan)).rejects.toThrow(UnknownPrice)
    }
    for (const plan of ['', [], [{ price: 'pro' }, { price: 'pro' }]]) {
      await expect(made.swapAtPeriodEnd(plan)).rejects.toThrow(InvalidArgument)
    }
    expect(scheduleOf(test)).toBeNull()
    await made.cancel()
    await expect(made.swapAtPeriodEnd('pro')).rejects.toThrow(InvalidArgument)
    await made.resume()
    await made.swapAtPeriodEnd('pro')
    await made.cancelNow()
    expect([(await main(test)).plannedPrice, await made.plannedSwap()]).toEqual([null, null])
    await expect(made.swapAtPeriodEnd('pro')).rejects.toMatchObject({ code: 'subscription_ended' })
  })

  it('is rejected while the first payment is missing', async () => {
    const test = await start('stripe', { webhooks: false })
    const builder = test.user.newSubscription('main', 'monthly')
    await expect(builder.create('pm_card_threeDSecureRequired')).rejects.toMatchObject({
      code: 'payment_action_required',
    })
    await expect((await main(test)).swapAtPeriodEnd('pro')).rejects.toThrow(InvalidArgument)
  })

  it('is allowed while a payment is past due, and the planned swap survives pause() and unpause()', async () => {
    const test = await subscribed()
    const { user, sandbox } = test
    sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
    await sandbox.clock.advance({ days: 31, hours: 2 })
    await user.sync()
    const late = await main(test)
    expect(late.pastDue()).toBe(true)
    const planned = await late.swapAtPeriodEnd('pro')
    expect(planned.plannedPrice).toBe('pro')
    await planned.pause()
    expect((await main(test)).plannedPrice).toBe('pro')
    await planned.unpause()
    expect((await main(test)).plannedPrice).toBe('pro')
  })

  it('stores plannedPrice when the swap was planned directly at Stripe', async () => {
    const test = await subscribed({ webhooks: true })
    const stripe = await stripeSdk(test)
    const schedule = await stripe.subscriptionSchedules.create({
      from_subscription: test.made.providerId,
    })
    const [phase] = schedule.phases
    const present = { start_date: phase?.start_date ?? 0, end_date: phase?.end_date ?? 0 }
    await stripe.subscriptionSchedules.update(schedule.id, {
      phases: [
        { ...present, items: [{ price: 'monthly', quantity: 1 }] },
        { items: [{ price: 'pro', quantity: 2 }], duration: { interval: 'month' } },
      ],
    })
    await test.settle()
    expect((await main(test)).plannedPrice).toBe('pro')
    await stripe.subscriptionSchedules.release(schedule.id)
    await test.settle()
    expect((await main(test)).plannedPrice).toBeNull()
    // This schedule is still attached a month after the change, and the subscription can be
    // cancelled nevertheless.
    const ours = await (await main(test)).swapAtPeriodEnd('pro')
    await test.advance({ days: 31, hours: 1 })
    expect(scheduleOf(test)).not.toBeNull()
    expect((await (await main(test)).cancel()).onGracePeriod()).toBe(true)
    expect([scheduleOf(test), ours.name]).toEqual([null, 'main'])
  })

  it('bills the card that is the default when the swap takes effect', async () => {
    const test = await subscribed()
    const { user, sandbox } = test
    const stripe = await stripeSdk(test)
    const own = sandbox.stripe.customer(user.providerId ?? '') as unknown as {
      invoice_settings: { default_payment_method: string }
    }
    const method = own.invoice_settings.default_payment_method
    await stripe.subscriptions.update(test.made.providerId, { default_payment_method: method })
    await test.made.swapAtPeriodEnd('pro')
    await user.updateCard('pm_card_mastercard')
    await sandbox.clock.advance({ days: 32 })
    const last = sandbox.stripe.charges(user.providerId ?? '').find(({ amount }) => amount === 2500)
    expect(last).toMatchObject({ payment_method_details: { card: { brand: 'mastercard' } } })
  })
})

describe('a planned swap', () => {
  type Deed = readonly [
    name: keyof typeof PLANNED_SWAP_RULES,
    ask: (of: Subscription) => Promise<unknown>,
    planned: readonly RequestedItem[] | null | 'refused',
  ]
  const PRO = [{ price: 'pro', quantity: 1 }]
  const withSeats = (quantity: number) => [...PRO, { price: 'seat', quantity }]

  const DEEDS: readonly Deed[] = [
    ['swap', (of) => of.swap('quarterly'), null],
    ['swap', (of) => of.swapAndInvoice('pro'), null],
    ['cancel', (of) => of.cancel(), null],
    ['cancelAt', (of) => of.cancelAt(day(50)), null],
    ['cancelNow', (of) => of.cancelNow(), null],
    ['items', (of) => of.addPrice('seat', 2), withSeats(2)],
    ['items', (of) => of.incrementQuantity(2), [{ price: 'pro', quantity: 3 }]],
    ['items', (of) => of.updateQuantity(5), [{ price: 'pro', quantity: 5 }]],
    ['discounts', (of) => of.applyCoupon('SPRING'), PRO],
    ['discounts', (of) => of.removeDiscounts(), PRO],
    ['tax', (of) => of.syncTaxPercentage(), PRO],
    ['payNow', (of) => of.payNow(), PRO],
    ['pause', (of) => of.pause(), PRO],
    ['unpause', (of) => of.unpause(), PRO],
    ['trial', (of) => of.endTrial(), 'refused'],
  ]

  it('has a rule for each other kind of change to the subscription', () => {
    expect(new Set(DEEDS.map(([name]) => name))).toEqual(new Set(Object.keys(PLANNED_SWAP_RULES)))
  })

  it.each(DEEDS)(
    'follows its rule if the subscription is changed in this way: %s',
    async (_name, ask, planned) => {
      const test = await subscribed()
      const { user } = test
      await test.made.swapAtPeriodEnd('pro')
      if (planned === 'refused')
        await expect(ask(await main(test))).rejects.toThrow(InvalidArgument)
      else await ask(await main(test))
      const found = await main(test)
      const expected = planned === 'refused' ? PRO : planned
      expect((await found.plannedSwap())?.items ?? null).toEqual(expected)
      expect(found.plannedPrice).toBe(expected?.[0]?.price ?? null)
      expect((await user.sync()).drift).toEqual([])
    },
  )

  it('includes a coupon that is applied after it was planned', async () => {
    const test = await subscribed()
    const { user, sandbox } = test
    await test.made.swapAtPeriodEnd('pro')
    await (await main(test)).applyCoupon('SPRING')
    await sandbox.clock.advance({ days: 32 })
    expect(sumChargedCents(test, user)).toBe(1000 + 2500 - 300)
  })

  it('includes a tax that changes after it was planned', async () => {
    let tax = 0
    const test = await subscribed({ taxPercentage: () => tax })
    const { user, sandbox } = test
    await test.made.swapAtPeriodEnd('pro')
    tax = 19
    await (await main(test)).syncTaxPercentage()
    await sandbox.clock.advance({ days: 32 })
    expect(sumChargedCents(test, user)).toBe(1000 + 2975)
  })

  it('keeps automatic tax', async () => {
    const test = await start('stripe', { webhooks: false, tax: 'automatic' })
    const { user, sandbox } = test
    await user.updateCard(CARD)
    await user.updateCustomer({ address: { country: 'DE', postalCode: '10115' } })
    const made = await user.newSubscription('main', 'monthly').create()
    const first = sumChargedCents(test, user)
    await made.swapAtPeriodEnd('pro')
    await (await main(test)).syncTaxPercentage()
    await sandbox.clock.advance({ days: 32 })
    // USD prices do not include tax.
    expect([first, sumChargedCents(test, user) - first]).toEqual([1190, 2975])
  })

  it('is kept if another swap is declined', async () => {
    const test = await subscribed()
    const { user, sandbox } = test
    await test.made.swapAtPeriodEnd('quarterly')
    sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
    await expect((await main(test)).swapAndInvoice('pro')).rejects.toThrow(PaymentFailed)
    const found = await main(test)
    expect([found.providerPlan, found.plannedPrice, found.plannedAt]).toEqual([
      'monthly',
      'quarterly',
      PERIOD_END,
    ])
  })

  it('does not change the cost of an immediate swap, and the preview of that swap stays exact', async () => {
    const test = await subscribed()
    const { user, sandbox } = test
    await test.made.swapAtPeriodEnd('quarterly')
    await sandbox.clock.advance({ days: 10 })
    const found = await main(test)
    const options = { invoiceNow: true }
    const { total, prorationDate } = await found.preview({ swap: 'pro' }, options)
    await found.swapAndInvoice('pro', { prorationDate })
    expect(sumChargedCents(test, user)).toBe(1000 + total.amount)
  })

  const planned: readonly RequestedItem[] = [
    { price: 'pro', quantity: 2 },
    { price: 'seat', quantity: 3 },
    { price: 'calls', quantity: null },
  ]
  const [pro, seat, calls] = planned
  it.each<[ItemChange, readonly unknown[]]>([
    [{ add: 'extra', quantity: 2 }, [pro, seat, calls, { price: 'extra', quantity: 2 }]],
    [{ add: 'extra' }, [pro, seat, calls, { price: 'extra', quantity: 1 }]],
    [{ add: 'seat', quantity: 9 }, planned],
    [{ remove: 'seat' }, [pro, calls]],
    [{ remove: 'extra' }, planned],
    [{ remove: 'pro' }, planned],
    [{ replace: 'seat', by: 'desk' }, [pro, { price: 'desk', quantity: 3 }, calls]],
    [{ replace: 'extra', by: 'desk' }, planned],
    [{ replace: 'seat', by: 'calls' }, [pro, calls]],
    [{ quantity: 7, price: 'seat' }, [pro, { price: 'seat', quantity: 7 }, calls]],
    [{ quantity: 7, price: 'extra' }, planned],
    [{ quantity: 7, price: 'calls' }, planned],
    [{ quantity: 7 }, [{ price: 'pro', quantity: 7 }, seat, calls]],
    [{ quantity: 7, price: 'monthly' }, [{ price: 'pro', quantity: 7 }, seat, calls]],
  ])(
    'has its prices changed like those of the subscription by the change %j',
    (change, expected) => {
      expect(createPlannedItemsUpdate(change)(planned, 'monthly')).toEqual(expected)
    },
  )
})
