import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { catchStripeError, START, seconds, seedPrices, startStripeSandbox } from './support.ts'

const OWN_NOW = START.getTime() / 1000

/** Creates a test clock that shows `time`. */
async function createClock(stripe: Stripe, time: string, name?: string) {
  const frozen_time = seconds(time)
  return stripe.testHelpers.testClocks.create({ frozen_time, ...(name ? { name } : {}) })
}

async function advance(stripe: Stripe, clock: string, to: string) {
  const asked = await stripe.testHelpers.testClocks.advance(clock, { frozen_time: seconds(to) })
  expect(asked.status).toBe('advancing')
  expect(asked.status_details.advancing?.target_frozen_time).toBe(seconds(to))
  await expect
    .poll(async () => (await stripe.testHelpers.testClocks.retrieve(clock)).status)
    .toBe('ready')
}

/** Creates a customer with a card, on a test clock, or on the sandbox's own clock without one. */
async function customerOn(stripe: Stripe, test_clock?: string, card = 'pm_card_visa') {
  return stripe.customers.create({
    payment_method: card,
    invoice_settings: { default_payment_method: card },
    ...(test_clock ? { test_clock } : {}),
  })
}

/** Returns the dates on which each invoice was created and paid, oldest first. */
async function invoicesOf(stripe: Stripe, customer: string) {
  const { data } = await stripe.invoices.list({ customer, limit: 100 })
  const day = (time: number | null) => time && new Date(time * 1000).toISOString().slice(0, 16)
  return data
    .reverse()
    .map(({ created, status_transitions }) => [day(created), day(status_transitions.paid_at)])
}

it("the Stripe sandbox keeps two test clocks and the sandbox's own clock independent when they are moved in turn", async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { monthly } = await seedPrices(stripe)
  const early = await createClock(stripe, '2024-02-29T12:00:00Z', 'leap')
  const late = await createClock(stripe, '2030-06-10T00:00:00Z')
  const customers = [
    await customerOn(stripe, early.id),
    await customerOn(stripe, late.id),
    await customerOn(stripe),
  ] as const
  const [atEarly, atLate, own] = customers.map(({ id }) => id) as [string, string, string]
  for (const { id } of customers) {
    await stripe.subscriptions.create({ customer: id, items: [{ price: monthly.id }] })
  }
  await advance(stripe, late.id, '2030-07-10T01:00:00Z')
  await advance(stripe, early.id, '2024-03-29T13:00:00Z')
  await advance(stripe, late.id, '2030-08-10T00:30:00Z')
  expect(await invoicesOf(stripe, own)).toEqual([['2026-01-31T10:00', '2026-01-31T10:00']])
  await sandbox.clock.advance({ months: 1, hours: 1 })
  await advance(stripe, early.id, '2024-04-29T13:00:00Z')

  expect(await invoicesOf(stripe, atEarly)).toEqual([
    ['2024-02-29T12:00', '2024-02-29T12:00'],
    ['2024-03-29T12:00', '2024-03-29T13:00'],
    ['2024-04-29T12:00', '2024-04-29T13:00'],
  ])
  // The last invoice stays a draft for an hour, and the clock moved by half of it.
  expect(await invoicesOf(stripe, atLate)).toEqual([
    ['2030-06-10T00:00', '2030-06-10T00:00'],
    ['2030-07-10T00:00', '2030-07-10T01:00'],
    ['2030-08-10T00:00', null],
  ])
  expect(await invoicesOf(stripe, own)).toEqual([
    ['2026-01-31T10:00', '2026-01-31T10:00'],
    ['2026-02-28T10:00', '2026-02-28T11:00'],
  ])
  const clocks = await stripe.testHelpers.testClocks.list()
  expect(clocks.data.map(({ id, frozen_time }) => [id, frozen_time])).toEqual([
    [late.id, seconds('2030-08-10T00:30:00Z')],
    [early.id, seconds('2024-04-29T13:00:00Z')],
  ])
  expect(sandbox.clock.now().toISOString()).toBe('2026-02-28T11:00:00.000Z')
  expect(sandbox.failedJobs()).toEqual([])
})

it("the Stripe sandbox lists events of all clocks in the order of their occurrence, with times of the sandbox's own clock", async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { monthly } = await seedPrices(stripe)
  const early = await createClock(stripe, '2020-01-01T00:00:00Z')
  const late = await createClock(stripe, '2033-01-01T00:00:00Z')
  for (const { id } of [late, early]) {
    const customer = await customerOn(stripe, id)
    await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
  }
  await advance(stripe, late.id, '2033-03-01T00:00:00Z')
  await advance(stripe, early.id, '2020-02-02T00:00:00Z')
  await advance(stripe, late.id, '2033-03-01T02:00:00Z')
  const paid = await stripe.events.list({ type: 'invoice.paid' })
  expect(paid.data.map(({ created }) => created)).toEqual(Array(5).fill(OWN_NOW))
  const clockOf = ({ data }: Stripe.Event) => (data.object as Stripe.Invoice).test_clock
  expect(paid.data.map(clockOf)).toEqual([late.id, early.id, late.id, early.id, late.id])
  const told = (await stripe.events.list({ type: 'test_helpers.test_clock.*', limit: 100 })).data
  expect(told.map(({ type }) => type.split('.').at(-1))).toEqual([
    ...Array(3).fill(['ready', 'advancing']).flat(),
    'created',
    'created',
  ])
  await sandbox.clock.advance({ days: 31 })
  expect((await stripe.events.list({ type: 'invoice.*' })).data).toEqual([])
})

it("the Stripe sandbox bills by the test clock, and dates payments and events by the sandbox's own clock", async () => {
  const { stripe } = await startStripeSandbox()
  const { monthly } = await seedPrices(stripe)
  const { id, created, deletes_after } = await createClock(stripe, '2028-03-31T08:00:00Z')
  expect([created, deletes_after]).toEqual([OWN_NOW, OWN_NOW + 30 * 86_400])
  const then = seconds('2028-03-31T08:00:00Z')
  const customer = await customerOn(stripe, id)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    expand: ['latest_invoice'],
  })
  const invoice = subscription.latest_invoice as Stripe.Invoice
  const item = await stripe.invoiceItems.create({
    customer: customer.id,
    amount: 100,
    currency: 'usd',
  })
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id })
  const belonging = [customer, subscription, invoice, item, schedule]
  expect(belonging.map(({ test_clock }) => test_clock)).toEqual(Array(5).fill(id))
  expect([customer.created, subscription.created, invoice.created, item.date]).toEqual(
    Array(4).fill(then),
  )
  expect(subscription.items.data[0]?.current_period_end).toBe(seconds('2028-04-30T08:00:00Z'))
  const [intent] = (await stripe.paymentIntents.list({ customer: customer.id })).data
  const [charge] = (await stripe.charges.list({ customer: customer.id })).data
  const refund = await stripe.refunds.create({ charge: charge?.id ?? '', amount: 10 })
  expect([intent?.created, charge?.created, refund.created]).toEqual(Array(3).fill(OWN_NOW))
  const preview = await stripe.invoices.createPreview({ subscription: subscription.id })
  expect([preview.created, preview.amount_due]).toEqual([seconds('2028-04-30T08:00:00Z'), 1100])
  const swap = await stripe.invoices.createPreview({
    customer: customer.id,
    subscription_details: { items: [{ price: monthly.id }] },
  })
  expect([swap.created, swap.period_end]).toEqual([then, then])
})

it('the Stripe sandbox ends trials, retries payments and cancels by the test clock', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { monthly } = await seedPrices(stripe)
  const { id } = await createClock(stripe, '2027-01-01T00:00:00Z')
  const customer = await customerOn(stripe, id, 'pm_card_chargeCustomerFail')
  const made = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    trial_period_days: 14,
  })
  expect(made.trial_end).toBe(seconds('2027-01-15T00:00:00Z'))
  await sandbox.clock.advance({ years: 2 })
  expect((await stripe.subscriptions.retrieve(made.id)).status).toBe('trialing')
  await advance(stripe, id, '2027-01-12T00:00:00Z')
  const types = async () =>
    (
      await stripe.events.list({
        types: ['customer.subscription.trial_will_end', 'invoice.payment_failed'],
      })
    ).data.length
  expect(await types()).toBe(1)
  await advance(stripe, id, '2027-01-15T01:00:00Z')
  const owing = await stripe.subscriptions.retrieve(made.id, { expand: ['latest_invoice'] })
  const next = (owing.latest_invoice as Stripe.Invoice).next_payment_attempt
  expect([owing.status, next]).toEqual(['past_due', seconds('2027-01-18T01:00:00Z')])
  await advance(stripe, id, '2027-02-01T00:00:00Z')
  const ended = await stripe.subscriptions.retrieve(made.id)
  expect([ended.status, ended.ended_at]).toEqual(['canceled', seconds('2027-01-30T01:00:00Z')])
  expect(await types()).toBe(5)
})

it('the Stripe sandbox starts schedules, counts usage and runs Checkout by the test clock', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { product, monthly, better } = await seedPrices(stripe)
  const { id } = await createClock(stripe, '2025-01-10T00:00:00Z')
  const customer = await customerOn(stripe, id)
  const schedule = await stripe.subscriptionSchedules.create({
    customer: customer.id,
    start_date: seconds('2025-01-20T00:00:00Z'),
    phases: [{ items: [{ price: better.id }] }],
  })
  const meter = await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  const metered = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 5,
    recurring: { interval: 'month', usage_type: 'metered', meter: meter.id },
  })
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: customer.id,
    line_items: [{ price: monthly.id, quantity: 1 }, { price: metered.id }],
    success_url: 'https://example.com/done',
    subscription_data: { trial_end: seconds('2025-01-15T00:00:00Z') },
  })
  expect([session.created, session.expires_at]).toEqual([OWN_NOW, OWN_NOW + 86_400])
  const { subscription } = sandbox.stripe.completeCheckout(session.id)
  const report = (timestamp: string) =>
    stripe.billing.meterEvents.create({
      event_name: 'calls',
      payload: { stripe_customer_id: customer.id, value: '7' },
      timestamp: seconds(timestamp),
    })
  await advance(stripe, id, '2025-01-16T00:00:00Z')
  await report('2025-01-15T12:00:00Z')
  expect((await catchStripeError(report('2026-01-31T00:00:00Z'))).code).toBe('timestamp_in_future')
  await advance(stripe, id, '2025-02-15T01:00:00Z')
  const invoices = await stripe.invoices.list({ subscription: String(subscription), limit: 10 })
  expect(invoices.data.map(({ created, total }) => [created, total])).toEqual([
    [seconds('2025-02-15T00:00:00Z'), 1035],
    [seconds('2025-01-15T00:00:00Z'), 1000],
    [seconds('2025-01-10T00:00:00Z'), 0],
  ])
  const started = await stripe.subscriptionSchedules.retrieve(schedule.id)
  const planned = await stripe.subscriptions.retrieve(String(started.subscription))
  expect(planned.start_date).toBe(seconds('2025-01-20T00:00:00Z'))
})

it('the Stripe sandbox lists objects on a test clock only if the request names the test clock', async () => {
  const { stripe } = await startStripeSandbox()
  const { monthly } = await seedPrices(stripe)
  const { id } = await createClock(stripe, '2027-01-01T00:00:00Z')
  const there = await customerOn(stripe, id)
  const here = await customerOn(stripe)
  for (const customer of [there.id, here.id]) {
    await stripe.subscriptions.create({ customer, items: [{ price: monthly.id }] })
  }
  const ids = (list: { data: Array<{ id: string }> }) => list.data.map((each) => each.id)
  expect(ids(await stripe.customers.list())).toEqual([here.id])
  expect(ids(await stripe.customers.list({ test_clock: id }))).toEqual([there.id])
  const owners = async (params: Stripe.SubscriptionListParams) =>
    (await stripe.subscriptions.list(params)).data.map(({ customer }) => customer)
  expect(await owners({})).toEqual([here.id])
  expect(await owners({ test_clock: id })).toEqual([there.id])
  expect(await owners({ customer: there.id })).toEqual([there.id])
})

it('the Stripe sandbox allows at most three customers on a test clock, and three subscriptions for each', async () => {
  const { stripe } = await startStripeSandbox()
  const { monthly } = await seedPrices(stripe)
  const { id } = await createClock(stripe, '2027-01-01T00:00:00Z')
  const [first, second] = [await customerOn(stripe, id), await customerOn(stripe, id)]
  await customerOn(stripe, id)
  expect((await catchStripeError(customerOn(stripe, id))).param).toBe('test_clock')
  await stripe.customers.del(second.id)
  await customerOn(stripe, id)
  const items = [{ price: monthly.id }]
  const subscribe = () => stripe.subscriptions.create({ customer: first.id, items })
  const plan = () =>
    stripe.subscriptionSchedules.create({
      customer: first.id,
      start_date: seconds('2027-01-05T00:00:00Z'),
      phases: [{ items }],
    })
  const { id: running } = await subscribe()
  await subscribe()
  await plan()
  expect((await catchStripeError(subscribe())).param).toBe('customer')
  expect((await catchStripeError(plan())).param).toBe('customer')
  await stripe.subscriptions.cancel(running)
  await subscribe()
  expect((await catchStripeError(customerOn(stripe, 'clock_none'))).code).toBe('resource_missing')
})

it('the Stripe sandbox moves a test clock forward only, by at most two intervals of its shortest subscription', async () => {
  const { stripe } = await startStripeSandbox()
  const { monthly, yearly } = await seedPrices(stripe)
  const { id } = await createClock(stripe, '2027-01-31T00:00:00Z')
  const refused = async (to: string) =>
    catchStripeError(stripe.testHelpers.testClocks.advance(id, { frozen_time: seconds(to) }))
  for (const to of ['2027-01-31T00:00:00Z', '2027-01-30T00:00:00Z', '2029-01-31T00:00:01Z']) {
    expect((await refused(to)).param).toBe('frozen_time')
  }
  const customer = await customerOn(stripe, id)
  const subscribe = (price: string) =>
    stripe.subscriptions.create({ customer: customer.id, items: [{ price }] })
  await subscribe(yearly.id)
  const short = await subscribe(monthly.id)
  expect((await refused('2027-03-31T00:00:01Z')).message).toContain('two intervals')
  await advance(stripe, id, '2027-03-31T00:00:00Z')
  await stripe.subscriptions.cancel(short.id)
  expect((await refused('2029-03-31T00:00:01Z')).message).toContain('two intervals')
  await advance(stripe, id, '2029-03-31T00:00:00Z')
  expect(await invoicesOf(stripe, customer.id)).toHaveLength(6)
})

it('the Stripe sandbox deletes a test clock with its customers', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { monthly } = await seedPrices(stripe)
  const { id } = await createClock(stripe, '2027-01-01T00:00:00Z')
  const customer = await customerOn(stripe, id)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  expect(await stripe.testHelpers.testClocks.del(id)).toMatchObject({ id, deleted: true })
  expect((await catchStripeError(stripe.testHelpers.testClocks.retrieve(id))).code).toBe(
    'resource_missing',
  )
  expect(await stripe.customers.retrieve(customer.id)).toMatchObject({ deleted: true })
  expect(sandbox.stripe.subscription(subscription.id)).toMatchObject({
    status: 'canceled',
    ended_at: seconds('2027-01-01T00:00:00Z'),
  })
  const types = sandbox.stripe.events().map(({ type }) => type)
  expect(types.slice(-4)).toEqual([
    'customer.subscription.deleted',
    'payment_method.detached',
    'customer.deleted',
    'test_helpers.test_clock.deleted',
  ])
  await sandbox.clock.advance({ years: 1 })
  expect(sandbox.failedJobs()).toEqual([])
})
