import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

type Phase = Stripe.SubscriptionScheduleUpdateParams.Phase

const TURN = seconds('2026-02-28T10:00:00Z')

async function subscribed(more: Partial<Stripe.SubscriptionCreateParams> = {}) {
  const setup = await startStripeSandbox()
  const { stripe } = setup
  const { customer } = await seedCustomer(stripe)
  const prices = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: prices.monthly.id }],
    ...more,
  })
  const plan = () => stripe.subscriptionSchedules.create({ from_subscription: subscription.id })
  return { ...setup, customer, ...prices, subscription, plan }
}

/** Removes the properties that the SDK adds. */
function plainOf(subscription: Stripe.Subscription): object {
  return JSON.parse(JSON.stringify(subscription))
}

/** Returns the present phase as parameters of an update. */
function present({ phases: [phase] }: Stripe.SubscriptionSchedule) {
  return {
    start_date: phase?.start_date ?? 0,
    end_date: phase?.end_date ?? 0,
    items: (phase?.items ?? []).map(({ price, quantity = 1 }) => ({
      price: String(price),
      quantity,
    })),
  }
}

describe('a schedule created from a Stripe subscription', () => {
  it('contains the whole subscription in its only phase, and changes nothing about the subscription', async () => {
    const setup = await startStripeSandbox()
    const { stripe } = setup
    const { customer, method } = await seedCustomer(stripe)
    const { monthly } = await seedPrices(stripe)
    const coupon = await stripe.coupons.create({ percent_off: 25, duration: 'forever' })
    const rate = await stripe.taxRates.create({
      display_name: 'VAT',
      percentage: 19,
      inclusive: false,
    })
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: monthly.id, quantity: 3, tax_rates: [rate.id], metadata: { a: 'b' } }],
      discounts: [{ coupon: coupon.id }],
      default_tax_rates: [rate.id],
      default_payment_method: method.id,
      trial_period_days: 9,
    })
    const schedule = await stripe.subscriptionSchedules.create({
      from_subscription: subscription.id,
    })
    expect(schedule).toMatchObject({
      status: 'active',
      subscription: subscription.id,
      default_settings: {
        default_payment_method: method.id,
        automatic_tax: { enabled: false, liability: null },
      },
      phases: [
        {
          items: [{ price: monthly.id, quantity: 3, tax_rates: [rate], metadata: { a: 'b' } }],
          discounts: [{ coupon: null, discount: subscription.discounts[0], promotion_code: null }],
          default_tax_rates: [rate],
          trial_end: subscription.trial_end,
          end_date: subscription.trial_end,
        },
      ],
    })
    const after = await stripe.subscriptions.retrieve(subscription.id)
    expect(plainOf(after)).toEqual({ ...plainOf(subscription), schedule: schedule.id })
  })

  it("controls the subscription's end, and follows changes of the subscription's prices", async () => {
    const { stripe, subscription, plan, better, customer } = await subscribed()
    const schedule = await plan()
    for (const params of [
      { cancel_at_period_end: true },
      { cancel_at_period_end: false },
      { cancel_at: TURN },
      { trial_end: TURN },
    ]) {
      const { message } = await catchStripeError(
        stripe.subscriptions.update(subscription.id, params),
      )
      expect(message).toContain(`managed by the subscription schedule \`${schedule.id}\``)
    }
    const later: Phase = {
      items: [{ price: better.id }],
      duration: { interval: 'month', interval_count: 1 },
    }
    await stripe.subscriptionSchedules.update(schedule.id, { phases: [present(schedule), later] })
    const [item] = subscription.items.data
    await stripe.subscriptions.update(subscription.id, {
      items: [{ id: item?.id ?? '', quantity: 4 }],
    })
    const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'forever' })
    await stripe.subscriptions.update(subscription.id, { discounts: [{ coupon: coupon.id }] })
    const { phases } = await stripe.subscriptionSchedules.retrieve(schedule.id)
    expect(phases.map(({ items, discounts }) => [items[0]?.quantity, discounts.length])).toEqual([
      [4, 1],
      [1, 0],
    ])
    await stripe.subscriptionSchedules.release(schedule.id)
    await stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
    const listed = await stripe.subscriptionSchedules.list({
      customer: customer.id,
      released_at: { gte: 1 },
    })
    expect(listed.data.map(({ id }) => id)).toEqual([schedule.id])
    const canceled = { customer: customer.id, canceled_at: { gte: 1 } }
    expect((await stripe.subscriptionSchedules.list(canceled)).data).toEqual([])
  })
})

describe('the start of a phase of a Stripe schedule', () => {
  it("sets the subscription's parameters that the phase names, and removes the others", async () => {
    const { sandbox, stripe, subscription, plan, better, product } = await subscribed()
    const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'forever' })
    const rate = await stripe.taxRates.create({
      display_name: 'VAT',
      percentage: 10,
      inclusive: false,
    })
    const setup = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 300,
    })
    await stripe.subscriptions.update(subscription.id, { discounts: [{ coupon: coupon.id }] })
    const schedule = await plan()
    const kept = schedule.phases[0]?.discounts.map(({ discount }) => ({
      discount: String(discount),
    }))
    await stripe.subscriptionSchedules.update(schedule.id, {
      phases: [
        { ...present(schedule), discounts: kept ?? [] },
        {
          items: [{ price: better.id, tax_rates: [rate.id] }],
          add_invoice_items: [{ price: setup.id }],
          description: 'Better',
          metadata: { level: '2' },
          duration: { interval: 'month', interval_count: 1 },
        },
      ],
    })
    const before = await stripe.subscriptions.retrieve(subscription.id)
    expect(before.discounts).toHaveLength(1)
    const upcoming = await stripe.invoices.createPreview({ subscription: subscription.id })
    // The one-time price has no tax of its own.
    expect(upcoming.total).toBe(2500 + 250 + 300)
    await sandbox.clock.advanceTo(new Date((TURN + 7200) * 1000))
    const after = await stripe.subscriptions.retrieve(subscription.id, {
      expand: ['latest_invoice'],
    })
    expect(after).toMatchObject({
      discounts: [],
      description: 'Better',
      metadata: { level: '2' },
      latest_invoice: { status: 'paid', total: 3050 },
    })
    expect(after.items.data.map(({ price }) => price.id)).toEqual([better.id])
  })

  it('replaces prices one by one, in any order', async () => {
    const { sandbox, stripe, subscription, plan, monthly, better, product } = await subscribed()
    const extra = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 200,
      recurring: { interval: 'month' },
    })
    await stripe.subscriptions.update(subscription.id, {
      items: [{ price: extra.id, quantity: 2 }],
      proration_behavior: 'none',
    })
    const schedule = await plan()
    await stripe.subscriptionSchedules.update(schedule.id, {
      phases: [
        present(schedule),
        {
          items: [{ price: extra.id, quantity: 5 }, { price: better.id }],
          duration: { interval: 'month', interval_count: 1 },
        },
      ],
    })
    await sandbox.clock.advanceTo(new Date((TURN + 7200) * 1000))
    const after = await stripe.subscriptions.retrieve(subscription.id, {
      expand: ['latest_invoice'],
    })
    const shown = after.items.data.map(({ price, quantity }) => [price.id, quantity])
    expect(new Set(shown.map(String))).toEqual(new Set([`${extra.id},5`, `${better.id},1`]))
    expect(shown.map(String)).not.toContain(`${monthly.id},1`)
    expect(after.latest_invoice).toMatchObject({ total: 5 * 200 + 2500 })
  })

  it('starts a new period if the interval changes', async () => {
    const { sandbox, stripe, subscription, plan, yearly } = await subscribed()
    const schedule = await plan()
    await stripe.subscriptionSchedules.update(schedule.id, {
      phases: [
        present(schedule),
        {
          items: [{ price: yearly.id }],
          billing_cycle_anchor: 'phase_start',
          proration_behavior: 'none',
          duration: { interval: 'day', interval_count: 1 },
        },
      ],
    })
    await sandbox.clock.advanceTo(new Date((TURN + 7200) * 1000))
    const after = await stripe.subscriptions.retrieve(subscription.id, {
      expand: ['latest_invoice'],
    })
    expect(after.billing_cycle_anchor).toBe(TURN)
    expect(after.items.data[0]?.current_period_end).toBe(seconds('2027-02-28T10:00:00Z'))
    expect(after.latest_invoice).toMatchObject({ total: 10_000, status: 'paid' })
  })

  it('does not delay changes of the current phase, which take effect immediately with the requested proration', async () => {
    const { sandbox, stripe, customer, subscription, plan, better } = await subscribed()
    const schedule = await plan()
    await sandbox.clock.advance({ days: 14 })
    const changed = { ...present(schedule), items: [{ price: better.id }] }
    await stripe.subscriptionSchedules.update(schedule.id, {
      phases: [changed],
      proration_behavior: 'none',
    })
    const after = await stripe.subscriptions.retrieve(subscription.id)
    expect(after.items.data[0]?.price.id).toBe(better.id)
    expect((await stripe.invoiceItems.list({ customer: customer.id })).data).toEqual([])
  })
})

describe('the events and errors of a Stripe schedule', () => {
  it('announce the end of the schedule a week before, and report the end', async () => {
    const { sandbox, plan } = await subscribed()
    const schedule = await plan()
    await sandbox.clock.advanceTo(new Date((TURN - 8 * 86_400) * 1000))
    expect(sandbox.stripe.events('subscription_schedule.expiring')).toEqual([])
    await sandbox.clock.advance({ days: 2 })
    expect(sandbox.stripe.events('subscription_schedule.expiring')).toHaveLength(1)
    await sandbox.clock.advance({ days: 7 })
    expect(sandbox.stripe.events('subscription_schedule.expiring')).toHaveLength(1)
    expect(sandbox.stripe.events('subscription_schedule.released')).toHaveLength(1)
    expect(sandbox.stripe.schedule(schedule.id)).toMatchObject({ status: 'released' })
    expect(sandbox.stripe.schedule('sub_sched_none')).toBeNull()
  })

  it('report that failed payments ended the schedule', async () => {
    const { sandbox, customer, plan, stripe, monthly } = await subscribed()
    const schedule = await plan()
    await stripe.subscriptionSchedules.update(schedule.id, {
      phases: [
        present(schedule),
        { items: [{ price: monthly.id }], duration: { interval: 'year', interval_count: 1 } },
      ],
    })
    for (let i = 0; i < 5; i++) {
      sandbox.trouble.declineNextCharge(customer.id, 'insufficient_funds')
    }
    await sandbox.clock.advance({ months: 2 })
    expect(sandbox.stripe.events('subscription_schedule.aborted')).toHaveLength(1)
    expect(sandbox.stripe.events('subscription_schedule.canceled')).toEqual([])
    expect(sandbox.stripe.schedule(schedule.id)).toMatchObject({ status: 'canceled' })
  })
})

it('the Stripe sandbox rejects a phase immediately if it could not start on its date', async () => {
  const { stripe, plan, better } = await subscribed()
  const schedule = await plan()
  const other = await seedCustomer(stripe)
  const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'forever' })
  const theirs = await stripe.subscriptions.create({
    customer: other.customer.id,
    items: [{ price: better.id }],
    discounts: [{ coupon: coupon.id }],
  })
  const discount = String(theirs.discounts[0])
  const wrong: Partial<Phase>[] = [
    { discounts: [{ coupon: 'none' }] },
    { discounts: [{ promotion_code: 'none' }] },
    { discounts: [{ discount }] },
    { discounts: [{ coupon: coupon.id, discount }] },
    { default_tax_rates: ['txr_none'] },
    { add_invoice_items: [{ price: better.id }] },
    { collection_method: 'send_invoice' },
  ]
  for (const more of wrong) {
    const next: Phase = {
      items: [{ price: better.id }],
      duration: { interval: 'month', interval_count: 1 },
      ...more,
    }
    const call = stripe.subscriptionSchedules.update(schedule.id, {
      phases: [present(schedule), next],
    })
    expect((await catchStripeError(call)).type).toBe('StripeInvalidRequestError')
  }
})

describe('a Stripe schedule in progress', () => {
  it('is previewed with its planned phases', async () => {
    const { stripe, subscription, plan, yearly } = await subscribed()
    const schedule = await plan()
    const next: Phase = { items: [{ price: yearly.id }], duration: { interval: 'year' } }
    await stripe.subscriptionSchedules.update(schedule.id, { phases: [present(schedule), next] })
    const bySchedule = await stripe.invoices.createPreview({ schedule: schedule.id })
    const bySubscription = await stripe.invoices.createPreview({ subscription: subscription.id })
    expect(bySchedule.total).toBe(yearly.unit_amount)
    expect(bySchedule.total).toBe(bySubscription.total)
    const both = { schedule: schedule.id, subscription: subscription.id }
    expect(await catchStripeError(stripe.invoices.createPreview(both))).toMatchObject({
      statusCode: 400,
    })
    await stripe.subscriptionSchedules.release(schedule.id)
    const gone = stripe.invoices.createPreview({ schedule: schedule.id })
    expect(await catchStripeError(gone)).toMatchObject({ statusCode: 400, param: 'schedule' })
  })

  it('requires the start date of its first phase', async () => {
    const { stripe, plan } = await subscribed()
    const schedule = await plan()
    const { start_date: _left, ...rest } = present(schedule)
    const update = stripe.subscriptionSchedules.update(schedule.id, { phases: [rest] })
    expect(await catchStripeError(update)).toMatchObject({
      statusCode: 400,
      code: 'parameter_missing',
      param: 'phases[0][start_date]',
    })
  })
})
