import { describe, expect, it } from 'vitest'
import {
  type FlowTest,
  START,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import { type AnyBillingEvent, InvalidArgument } from '../../../index.ts'

const CARD = 'pm_card_visa'
const day = (days: number) => new Date(START.getTime() + days * 86_400_000)

async function subscribed(options: Parameters<typeof start>[1] = {}) {
  const test = await start('stripe', options)
  const made = await test.user.newSubscription('main', 'monthly').create(CARD)
  return { ...test, made }
}

const main = ({ user }: FlowTest) => user.subscription('main')

const bills = ({ sandbox, user }: FlowTest) =>
  sandbox.stripe.invoices(user.providerId ?? '').map(({ status }) => status)

describe('pause()', () => {
  it('leaves the subscription active without collecting payments', async () => {
    const test = await subscribed()
    const { user } = test
    const paused = await test.made.pause()
    expect([paused.paused(), paused.pausedAt, await paused.pausedUntil()]).toEqual([
      true,
      START,
      null,
    ])
    expect([paused.active(), paused.valid(), paused.recurring(), paused.suspended()]).toEqual([
      true,
      true,
      true,
      false,
    ])
    await test.advance({ months: 2, days: 1 })
    expect([sumChargedCents(test, user), bills(test).sort()]).toEqual([
      1000,
      ['paid', 'void', 'void'],
    ])
    expect(await user.subscribed('main')).toBe(true)
    const again = await (await main(test)).unpause()
    expect([again.paused(), again.pausedAt]).toEqual([false, null])
    await again.unpause()
    await test.advance({ months: 1 })
    expect(sumChargedCents(test, user)).toBe(2000)
  })

  it('starts a pause that ends by itself on the given date', async () => {
    const test = await subscribed()
    const { user } = test
    await test.made.pause({ until: day(40) })
    expect(await test.made.pausedUntil()).toEqual(day(40))
    // A repeat replaces the pause.
    await test.made.pause({ until: day(45) })
    expect(await test.made.pausedUntil()).toEqual(day(45))
    await test.advance({ days: 44 })
    expect([(await main(test)).paused(), sumChargedCents(test, user)]).toEqual([true, 1000])
    await test.advance({ days: 2 })
    expect([(await main(test)).paused(), sumChargedCents(test, user)]).toEqual([false, 1000])
    await test.advance({ days: 14 })
    expect(sumChargedCents(test, user)).toBe(2000)
  })

  it.each([
    ['void', 'void'],
    ['keep_as_draft', 'draft'],
    ['mark_uncollectible', 'uncollectible'],
  ] as const)(
    "accepts the option bills: '%s', which gives invoices created during the pause the status %s",
    async (how, status) => {
      const test = await subscribed({ webhooks: false })
      await test.made.pause({ bills: how })
      await test.sandbox.clock.advance({ days: 32 })
      expect([sumChargedCents(test, test.user), bills(test).sort()]).toEqual([
        1000,
        ['paid', status].sort(),
      ])
      await test.user.sync()
      expect((await main(test)).providerStatus).toBe('active')
    },
  )

  it("suspends access if the option pauses is { access: 'suspend' }", async () => {
    const test = await subscribed({ pauses: { access: 'suspend' } })
    const { user, billing } = test
    const at = test.sandbox.clock.now()
    await test.made.pause()
    const paused = await main(test)
    expect([paused.valid(), paused.suspended(), paused.incomplete()]).toEqual([false, true, false])
    expect([await user.subscribed('main'), await billing.countActive(at)]).toEqual([false, 0])
    await paused.unpause()
    expect([await user.subscribed('main'), await billing.countActive(at)]).toEqual([true, 1])
  })

  it("stores the pause and emits an event, as a pause made in Stripe's dashboard does", async () => {
    const emitted: AnyBillingEvent[] = []
    const keep = (event: AnyBillingEvent) => emitted.push(event)
    const test = await subscribed({
      on: {
        'subscription.paused': keep,
        'subscription.resumed': keep,
        'subscription.changed': keep,
      },
    })
    const stripe = await stripeSdk(test)
    const { providerId } = test.made
    await stripe.subscriptions.update(providerId, { pause_collection: { behavior: 'void' } })
    await test.settle()
    expect((await main(test)).paused()).toBe(true)
    await stripe.subscriptions.update(providerId, { pause_collection: '' })
    await test.settle()
    expect((await main(test)).paused()).toBe(false)
    const types = () => emitted.map(({ type }) => type).sort()
    const changed = 'subscription.changed'
    expect(types()).toEqual([changed, changed, 'subscription.paused', 'subscription.resumed'])
    await (await main(test)).pause({ until: day(50) })
    await (await main(test)).pause({ until: day(60) })
    await test.settle()
    expect(types().filter((type) => type === 'subscription.paused')).toHaveLength(2)
    expect(emitted.at(-1)?.data).toMatchObject({ subscription: { pausedAt: START.toISOString() } })
    expect((await test.user.sync()).drift).toEqual([])
  })

  it('starts a pause that ends when the subscription ends', async () => {
    const test = await subscribed({ webhooks: false })
    await test.made.pause()
    await test.made.cancelNow()
    const ended = await main(test)
    expect([ended.paused(), ended.pausedAt]).toEqual([false, null])
    await expect(ended.pause()).rejects.toMatchObject({ code: 'subscription_ended' })
    await expect(ended.unpause()).rejects.toMatchObject({ code: 'subscription_ended' })
  })

  it('prevents, during a trial, the charge at the end of the trial', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, sandbox } = test
    const made = await user.newSubscription('main', 'monthly').trialDays(9).create(CARD)
    await made.pause({ until: day(20) })
    await sandbox.clock.advance({ days: 21 })
    expect(sumChargedCents(test, user)).toBe(0)
    await sandbox.clock.advance({ months: 1 })
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('blocks changes that charge immediately, because the charge would not be collected', async () => {
    const test = await subscribed({ webhooks: false })
    const { user, made } = test
    await made.swapAtPeriodEnd('pro')
    await made.pause()
    const refused = {
      code: 'invalid_argument',
      message: expect.stringContaining('unpause() first'),
    }
    await expect(made.swapAndInvoice('pro')).rejects.toMatchObject(refused)
    await expect(made.addPriceAndInvoice('seat')).rejects.toMatchObject(refused)
    const before = await main(test)
    expect([before.providerPlan, before.plannedPrice]).toEqual(['monthly', 'pro'])
    expect([bills(test), before.items().length]).toEqual([['paid'], 1])
    await made.swap('pro')
    await made.unpause()
    await made.swapAndInvoice('monthly')
    expect((await main(test)).providerPlan).toBe('monthly')
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('blocks changes that start a new period or create a final invoice', async () => {
    const test = await subscribed({ webhooks: false })
    const { made } = test
    await made.swapAtPeriodEnd('pro')
    await made.pause()
    for (const billed of [
      () => made.swap('yearly'),
      () => made.noProrate().swap('yearly'),
      () => made.previewSwap('yearly'),
      () => made.preview({ swap: 'yearly' }),
      () => made.preview({ swap: 'pro' }, { invoiceNow: true }),
      () => made.cancelNow({ invoiceNow: true }),
    ]) {
      await expect(billed()).rejects.toThrow(/unpause\(\) first/)
    }
    const before = await main(test)
    expect([before.providerPlan, before.plannedPrice, bills(test)]).toEqual([
      'monthly',
      'pro',
      ['paid'],
    ])
    expect((await made.previewSwap('pro')).immediately).toBe(false)
    expect((await made.swap('pro')).providerPlan).toBe('pro')
    await made.cancelNow()
    expect(bills(test)).toEqual(['paid'])
  })

  it('rejects a swap from a free to a paid price', async () => {
    const test = await start('stripe', { webhooks: false })
    const twin = test.sandbox.stripe
    for (const [id, unitAmount] of [
      ['nothing', 0],
      ['other', 0],
      ['seat', 500],
    ] as const) {
      twin.seedPrice({ id, unitAmount, interval: 'month', product: 'Gold' })
    }
    const made = await test.user.newSubscription('main', 'nothing').create(CARD)
    await made.pause()
    await expect(made.swap('monthly')).rejects.toThrow(/unpause\(\) first/)
    await expect(made.addPrice('seat')).rejects.toThrow(/unpause\(\) first/)
    await expect(made.preview({ add: 'seat' })).rejects.toThrow(/unpause\(\) first/)
    expect((await made.addPrice('other')).items()).toHaveLength(2)
    await made.unpause()
    expect((await made.swap('monthly')).providerPlan).toBe('monthly')
    expect(sumChargedCents(test, test.user)).toBe(1000)
  })

  it('rejects adding units after cancel(), because the added units would be charged immediately', async () => {
    const test = await subscribed({ webhooks: false })
    const { made } = test
    await made.pause()
    await made.cancel()
    await expect(made.incrementQuantity()).rejects.toThrow(/unpause\(\) first/)
    await expect(made.updateQuantity(3)).rejects.toThrow(/unpause\(\) first/)
    expect([(await main(test)).quantity, bills(test)]).toEqual([1, ['paid']])
  })

  it('blocks the early end of a trial', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user } = test
    const made = await user.newSubscription('main', 'monthly').trialDays(9).create(CARD)
    await made.pause()
    await expect(made.endTrial()).rejects.toThrow(/unpause\(\) first/)
    await expect(made.skipTrial().swap('pro')).rejects.toThrow(/unpause\(\) first/)
    expect([(await main(test)).onTrial(), sumChargedCents(test, user)]).toEqual([true, 0])
    await made.swap('pro')
    await made.unpause()
    await made.endTrial()
    expect(sumChargedCents(test, user)).toBe(2500)
    // Nothing ends, so nothing is billed.
    await made.pause()
    await made.endTrial()
    await made.skipTrial().swap('monthly')
    expect((await main(test)).providerPlan).toBe('monthly')
  })

  it('rejects an end date that is invalid or not in the future, and an unknown value of the `bills` option', async () => {
    const test = await subscribed({ webhooks: false })
    for (const until of [START, day(-1), new Date('never'), '2027-01-01' as never]) {
      await expect(test.made.pause({ until })).rejects.toThrow(InvalidArgument)
    }
    await expect(test.made.pause({ bills: 'burn' as never })).rejects.toThrow(InvalidArgument)
  })

  it('is refused for a subscription whose first payment is missing', async () => {
    const test = await start('stripe', { webhooks: false })
    const builder = test.user.newSubscription('main', 'monthly')
    await builder.create('pm_card_threeDSecureRequired').catch(() => undefined)
    await expect((await main(test)).pause()).rejects.toThrow(InvalidArgument)
  })
})

describe('can()', () => {
  it.each([
    ['stripe', 'pm_card_visa', true],
    ['braintree', 'fake-valid-visa-nonce', false],
  ] as const)(
    'returns whether the provider has the capability, without a request (provider: %s)',
    async (at, card, can) => {
      const { user } = await start(at)
      const made = await user.newSubscription('main', 'monthly').create(card)
      expect([made.can('pauses'), made.can('schedules'), user.can('taxIds')]).toEqual([
        can,
        can,
        can,
      ])
      expect([made.can('payments'), user.can('disputes')]).toEqual([true, true])
    },
  )
})
