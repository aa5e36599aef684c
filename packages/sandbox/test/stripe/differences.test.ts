import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

const DAY = 86_400

/**
 * Starts a monthly subscription from 1 to 31 January: 31 days for 31.00, so a day costs a dollar.
 */
async function startMonth(params: Partial<Stripe.SubscriptionCreateParams> = {}) {
  const setup = await startStripeSandbox({ now: new Date('2026-01-01T00:00:00Z') })
  const { stripe } = setup
  const { customer } = await seedCustomer(stripe)
  const { product } = await seedPrices(stripe)
  const priced = (unit_amount: number) =>
    stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount,
      recurring: { interval: 'month' },
    })
  const price = await priced(3100)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: price.id }],
    expand: ['latest_invoice'],
    ...params,
  })
  const pending = async () =>
    (await stripe.invoiceItems.list({ customer: customer.id, pending: true })).data.map(
      ({ amount, proration }) => [amount, proration],
    )
  return { ...setup, customer, price, priced, subscription, pending }
}

const first = (subscription: Stripe.Subscription) => subscription.latest_invoice as Stripe.Invoice

describe('cancel_at, the end date of a Stripe subscription,', () => {
  it('credits the part of a billed period after the cancellation', async () => {
    const { sandbox, stripe, customer, subscription, pending } = await startMonth()
    await stripe.subscriptions.update(subscription.id, {
      cancel_at: seconds('2026-01-21T00:00:00Z'),
    })
    expect(await pending()).toEqual([[-1100, true]])
    await sandbox.clock.advanceTo(new Date('2026-01-21T02:00:00Z'))
    expect(sandbox.stripe.subscription(subscription.id)).toMatchObject({ status: 'canceled' })
    expect((await stripe.customers.retrieve(customer.id)) as Stripe.Customer).toMatchObject({
      balance: -1100,
    })
  })

  it('invoices the credit immediately with proration_behavior `always_invoice`, and does not credit unused time with `none`', async () => {
    const { stripe, subscription, pending } = await startMonth()
    const at = seconds('2026-01-21T00:00:00Z')
    const none = { cancel_at: at, proration_behavior: 'none' } as const
    await stripe.subscriptions.update(subscription.id, none)
    expect(await pending()).toEqual([])
    const now = await stripe.subscriptions.update(subscription.id, {
      cancel_at: at,
      proration_behavior: 'always_invoice',
      expand: ['latest_invoice'],
    })
    expect(first(now)).toMatchObject({ total: -1100, status: 'paid' })
  })

  it('charges the credited time again if the cancellation is withdrawn, to the cent', async () => {
    const { stripe, subscription, pending } = await startMonth()
    const move = (params: Stripe.SubscriptionUpdateParams) =>
      stripe.subscriptions.update(subscription.id, params)
    await move({ cancel_at: seconds('2026-01-21T00:00:00Z') })
    await move({ cancel_at: seconds('2026-01-11T00:00:00Z') })
    await move({ cancel_at: seconds('2026-01-26T00:00:00Z') })
    await move({ cancel_at: '' })
    expect(await pending()).toEqual([
      [600, true],
      [1500, true],
      [-1000, true],
      [-1100, true],
    ])
  })

  it('bills a first period only until the cancellation, unless proration is disabled', async () => {
    const cancel_at = seconds('2026-01-11T00:00:00Z')
    const part = await startMonth({ cancel_at })
    expect(first(part.subscription)).toMatchObject({ total: 1000, status: 'paid' })
    const whole = await startMonth({ cancel_at, proration_behavior: 'none' })
    expect(first(whole.subscription)).toMatchObject({ total: 3100, status: 'paid' })
  })

  it('bills the last period only until the cancellation, whatever the proration behavior', async () => {
    const { sandbox, stripe, customer, subscription } = await startMonth()
    const cancel_at = seconds('2026-02-15T00:00:00Z')
    await stripe.subscriptions.update(subscription.id, { cancel_at, proration_behavior: 'none' })
    const preview = await stripe.invoices.createPreview({ subscription: subscription.id })
    expect(preview.total).toBe(1550)
    await sandbox.clock.advanceTo(new Date('2026-02-01T02:00:00Z'))
    expect(sandbox.stripe.paidInvoices(customer.id)[0]).toMatchObject({ total: 1550 })
    await sandbox.clock.advanceTo(new Date('2026-03-02T00:00:00Z'))
    expect(sandbox.stripe.subscription(subscription.id)).toMatchObject({
      status: 'canceled',
      ended_at: cancel_at,
    })
    expect(sandbox.stripe.paidInvoices(customer.id)).toHaveLength(2)
  })

  it('does not credit the same time twice if a price is swapped before the cancellation', async () => {
    const { stripe, subscription, priced, pending } = await startMonth()
    const dear = await priced(6200)
    await stripe.subscriptions.update(subscription.id, {
      cancel_at: seconds('2026-01-21T00:00:00Z'),
    })
    await stripe.subscriptions.update(subscription.id, {
      items: [{ id: subscription.items.data[0]?.id ?? '', price: dear.id }],
      proration_date: seconds('2026-01-01T00:00:00Z'),
    })
    expect(await pending()).toEqual([
      [4000, true],
      [-2000, true],
      [-1100, true],
    ])
  })
})

describe("billing_mode, Stripe's billing mode of a subscription,", () => {
  /**
   * Upgrades without proration, then downgrades, and returns the credit for the unused time of the
   * more expensive price.
   */
  async function creditAfterUnbilledUpgrade(type: 'classic' | 'flexible') {
    const { stripe, subscription, price, priced, pending } = await startMonth({
      billing_mode: { type },
    })
    expect(subscription.billing_mode.type).toBe(type)
    const dear = await priced(6200)
    const id = subscription.items.data[0]?.id ?? ''
    await stripe.subscriptions.update(subscription.id, {
      items: [{ id, price: dear.id }],
      proration_behavior: 'none',
    })
    await stripe.subscriptions.update(subscription.id, { items: [{ id, price: price.id }] })
    return pending()
  }

  it('credits the amount that was billed if the mode is flexible', async () => {
    expect(await creditAfterUnbilledUpgrade('flexible')).toEqual([
      [3100, true],
      [-3100, true],
    ])
  })

  it("credits the item's present price, whatever amount was billed, if the mode is classic", async () => {
    expect(await creditAfterUnbilledUpgrade('classic')).toEqual([
      [3100, true],
      [-6200, true],
    ])
  })

  it('is passed on by a schedule to the subscriptions it starts', async () => {
    const { sandbox, stripe } = await startStripeSandbox()
    const { customer } = await seedCustomer(stripe)
    const { monthly } = await seedPrices(stripe)
    const schedule = await stripe.subscriptionSchedules.create({
      customer: customer.id,
      start_date: 'now',
      billing_mode: { type: 'classic' },
      phases: [{ items: [{ price: monthly.id }] }],
    })
    expect(schedule.billing_mode.type).toBe('classic')
    expect(sandbox.stripe.subscriptions(customer.id)).toMatchObject([
      { billing_mode: { type: 'classic' } },
    ])
  })
})

it("the Stripe sandbox rejects a billing_cycle_anchor beyond one period with Stripe's message", async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const anchored = (billing_cycle_anchor: number) =>
    stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: monthly.id }],
      billing_cycle_anchor,
    })
  const natural = seconds('2026-02-28T10:00:00Z')
  const late = await catchStripeError(anchored(natural + 1))
  expect(late.statusCode).toBe(400)
  expect(late.param).toBe('billing_cycle_anchor')
  expect(late.message).toBe(
    `billing_cycle_anchor cannot be later than next natural billing date (${natural}) for plan`,
  )
  expect((await anchored(natural)).billing_cycle_anchor).toBe(natural)
})

it('the Stripe sandbox responds with 400 to timestamps that are too large for a date, such as milliseconds, in every parameter', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const items = [{ price: monthly.id }]
  const subscription = await stripe.subscriptions.create({ customer: customer.id, items })
  for (const huge of [Date.UTC(2026, 1, 1), 9_007_199_254_740_991]) {
    const calls: Array<Promise<unknown>> = [
      stripe.subscriptions.create({ customer: customer.id, items, billing_cycle_anchor: huge }),
      stripe.subscriptions.create({ customer: customer.id, items, trial_end: huge }),
      stripe.subscriptions.create({ customer: customer.id, items, cancel_at: huge }),
      stripe.subscriptions.update(subscription.id, { cancel_at: huge }),
      stripe.subscriptions.update(subscription.id, {
        pause_collection: { behavior: 'void', resumes_at: huge },
      }),
      stripe.subscriptionSchedules.create({
        customer: customer.id,
        start_date: huge,
        phases: [{ items }],
      }),
      stripe.subscriptionSchedules.create({
        customer: customer.id,
        phases: [{ items, end_date: huge }],
      }),
      stripe.subscriptionSchedules.create({
        customer: customer.id,
        phases: [{ items, duration: { interval: 'year', interval_count: 900_000 } }],
      }),
      stripe.coupons.create({ duration: 'once', percent_off: 10, redeem_by: huge }),
      stripe.testHelpers.testClocks.create({ frozen_time: huge }),
    ]
    for (const call of calls) expect((await catchStripeError(call)).statusCode).toBe(400)
  }
})

describe('a Stripe test card that requires authentication', () => {
  it('is declined if the customer is absent (off session), and requires an action if the customer is present (on session)', async () => {
    const { stripe } = await startStripeSandbox()
    const { customer, method } = await seedCustomer(stripe, 'pm_card_threeDSecure2Required')
    const charge = (off_session: boolean) =>
      stripe.paymentIntents.create({
        amount: 500,
        currency: 'usd',
        customer: customer.id,
        payment_method: method.id,
        confirm: true,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        ...(off_session ? { off_session } : {}),
      })
    const declined = await catchStripeError(charge(true))
    expect([declined.statusCode, declined.code, declined.decline_code]).toEqual([
      402,
      'authentication_required',
      'authentication_required',
    ])
    expect(declined.payment_intent?.status).toBe('requires_payment_method')
    expect((await charge(false)).status).toBe('requires_action')
  })

  it('is charged off session once it was set up, but still requires an action on session', async () => {
    const { sandbox, stripe } = await startStripeSandbox()
    const { monthly } = await seedPrices(stripe)
    const { customer, method } = await seedCustomer(stripe, 'pm_card_authenticationRequiredOnSetup')
    const setup = await stripe.setupIntents.create({
      customer: customer.id,
      payment_method: method.id,
      confirm: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    })
    sandbox.stripe.completeAuthentication(setup.id)
    const charge = (params: Partial<Stripe.PaymentIntentCreateParams>) =>
      stripe.paymentIntents.create({
        amount: 500,
        currency: 'usd',
        customer: customer.id,
        payment_method: method.id,
        confirm: true,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        ...params,
      })
    expect((await charge({ off_session: true })).status).toBe('succeeded')
    expect((await charge({})).status).toBe('requires_action')
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: monthly.id }],
      off_session: true,
    })
    expect(subscription.status).toBe('active')
    await sandbox.clock.advance({ months: 1, hours: 2 })
    expect(sandbox.stripe.subscription(subscription.id)).toMatchObject({ status: 'active' })
    expect(sandbox.stripe.paidInvoices(customer.id)).toHaveLength(2)
  })
})

it('the Stripe sandbox ends a trial with cancel_at without a credit, since nothing was paid', async () => {
  const { pending } = await startMonth({
    trial_period_days: 14,
    cancel_at: seconds('2026-01-01T00:00:00Z') + 10 * DAY,
  })
  expect(await pending()).toEqual([])
})
