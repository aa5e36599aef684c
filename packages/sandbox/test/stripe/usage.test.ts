import Stripe from 'stripe'
import { expect, it } from 'vitest'
import { startReceiver } from './receiver.ts'
import { catchStripeError, seconds, seedCustomer, startStripeSandbox } from './support.ts'

const START = seconds('2026-01-01T00:00:00Z')

/** A hundred calls are included, the next 900 cost half a cent each, later ones a quarter. */
const GRADUATED = {
  billing_scheme: 'tiered',
  tiers_mode: 'graduated',
  tiers: [
    { up_to: 100, unit_amount: 0 },
    { up_to: 1000, unit_amount_decimal: '0.5' as never },
    { up_to: 'inf', unit_amount_decimal: '0.25' as never },
  ],
} as const satisfies Partial<Stripe.PriceCreateParams>

async function setUp() {
  const { sandbox, stripe } = await startStripeSandbox({ now: new Date(START * 1000) })
  const { customer } = await seedCustomer(stripe)
  const meter = await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  const product = await stripe.products.create({ name: 'Calls' })
  const metered = (terms: Partial<Stripe.PriceCreateParams> = { unit_amount: 2 }) =>
    stripe.prices.create({
      product: product.id,
      currency: 'usd',
      recurring: { interval: 'month', usage_type: 'metered', meter: meter.id },
      ...terms,
    })
  const base = await stripe.prices.create({
    product_data: { name: 'Base' },
    currency: 'usd',
    unit_amount: 1000,
    recurring: { interval: 'month' },
  })
  const use = (value: number | string, at?: number) =>
    stripe.billing.meterEvents.create({
      event_name: 'calls',
      payload: { stripe_customer_id: customer.id, value: String(value) },
      ...(at === undefined ? {} : { timestamp: at }),
    })
  const invoices = async () =>
    (await stripe.invoices.list({ customer: customer.id, limit: 100 })).data
  const subscribe = (
    prices: readonly Stripe.Price[],
    more: Partial<Stripe.SubscriptionCreateParams> = {},
  ) =>
    stripe.subscriptions.create({
      customer: customer.id,
      items: prices.map(({ id }) => ({ price: id })),
      ...more,
    })
  const advanceTo = (text: string) => sandbox.clock.advanceTo(new Date(text))
  return { sandbox, stripe, customer, metered, base, use, invoices, subscribe, advanceTo, product }
}

function linesOf(invoice: Stripe.Invoice | undefined) {
  return invoice?.lines.data.map(({ amount, description, quantity, period }) => ({
    amount,
    description,
    quantity,
    from: new Date(period.start * 1000).toISOString().slice(0, 10),
    to: new Date(period.end * 1000).toISOString().slice(0, 10),
  }))
}

it("the Stripe sandbox bills last month's usage by tiers together with the next month's price", async () => {
  const { stripe, customer, metered, base, use, invoices, subscribe, advanceTo } = await setUp()
  const subscription = await subscribe([base, await metered(GRADUATED)])
  expect(subscription.items.data.map((item) => item.quantity)).toEqual([1, undefined])
  expect((await invoices())[0]).toMatchObject({ total: 1000, status: 'paid' })

  await advanceTo('2026-01-20T00:00:00Z')
  await use(600)
  await use(500, START)
  const preview = await stripe.invoices.createPreview({ subscription: subscription.id })
  const expected = [
    { amount: 0, description: '100 × Calls (Tier 1 at $0.00 / month)', quantity: 100 },
    { amount: 450, description: '900 × Calls (Tier 2 at $0.005 / month)', quantity: 900 },
    { amount: 25, description: '100 × Calls (Tier 3 at $0.0025 / month)', quantity: 100 },
  ].map((line) => ({ ...line, from: '2026-01-01', to: '2026-02-01' }))
  const next = {
    amount: 1000,
    description: '1 × Base (at $10.00 / month)',
    quantity: 1,
    from: '2026-02-01',
    to: '2026-03-01',
  }
  expect(linesOf(preview)).toEqual([...expected, next])
  expect(preview.total).toBe(1475)

  await advanceTo('2026-02-01T01:30:00Z')
  const [renewal] = await invoices()
  expect(linesOf(renewal)).toEqual([...expected, next])
  expect(renewal).toMatchObject({ customer: customer.id, total: 1475, status: 'paid' })
})

it('the Stripe sandbox counts usage until the invoice is finalized an hour later', async () => {
  const { sandbox, metered, use, invoices, subscribe, advanceTo } = await setUp()
  await subscribe([await metered(GRADUATED)])
  await use(50)
  await advanceTo('2026-02-01T00:30:00Z')
  expect((await invoices())[0]).toMatchObject({ status: 'draft', total: 0 })
  await use(1050, seconds('2026-01-31T23:59:59Z'))
  await use(7000, seconds('2026-02-01T00:00:00Z'))
  expect((await invoices())[0]).toMatchObject({ status: 'draft', total: 0 })
  await advanceTo('2026-02-01T01:00:00Z')
  const [paid] = await invoices()
  expect(paid).toMatchObject({ status: 'paid', total: 475, amount_paid: 475 })
  expect(linesOf(paid)?.map((line) => line.quantity)).toEqual([100, 900, 100])
  await use(1000, seconds('2026-01-31T12:00:00Z'))
  await sandbox.clock.advance({ days: 1 })
  expect((await invoices())[0]).toMatchObject({ id: paid?.id, total: 475 })
  await advanceTo('2026-03-01T01:00:00Z')
  // 450 for the second tier and 6,000 quarters.
  expect((await invoices())[0]).toMatchObject({ total: 450 + 1500 })
})

it.each([
  ['per unit', { unit_amount: 2 }, '3', 6],
  ['per unit below a cent', { unit_amount_decimal: '0.125' as never }, '1001', 125],
  ['with decimals of usage', { unit_amount: 150 }, '2.5', 375],
  [
    'in packages',
    { unit_amount: 1000, transform_quantity: { divide_by: 60, round: 'up' as const } },
    '150',
    3000,
  ],
  ['by volume', { ...GRADUATED, tiers_mode: 'volume' as const }, '1001', 250],
  ['with an included amount', GRADUATED, '100', 0],
  [
    'with a flat first tier and no usage',
    {
      billing_scheme: 'tiered' as const,
      tiers_mode: 'graduated' as const,
      tiers: [
        { up_to: 10, flat_amount: 500 },
        { up_to: 'inf' as const, unit_amount: 20 },
      ],
    },
    '0',
    500,
  ],
  ['taken back', { unit_amount: 200 }, '-3', 0],
])('the Stripe sandbox bills metered usage %s', async (_what, terms, used, total) => {
  const { metered, use, invoices, subscribe, advanceTo } = await setUp()
  await subscribe([await metered(terms as never)])
  if (used !== '0') await use(used)
  await advanceTo('2026-02-01T01:00:00Z')
  expect((await invoices())[0]).toMatchObject({ subtotal: total, status: 'paid' })
})

it('the Stripe sandbox applies discounts and tax to metered usage', async () => {
  const { stripe, metered, use, invoices, subscribe, advanceTo } = await setUp()
  const coupon = await stripe.coupons.create({ percent_off: 10, duration: 'forever' })
  const rate = await stripe.taxRates.create({
    display_name: 'VAT',
    percentage: 20,
    inclusive: false,
  })
  await subscribe([await metered({ unit_amount: 3 })], {
    discounts: [{ coupon: coupon.id }],
    default_tax_rates: [rate.id],
  })
  await use(1111)
  await advanceTo('2026-02-01T01:00:00Z')
  // 33.33, less 3.33 is 30.00, and a fifth of that.
  expect((await invoices())[0]).toMatchObject({ subtotal: 3333, total: 3600 })
})

it.each([
  ['flexible', 'create_prorations', [2 * 100, 5 * 10]],
  ['flexible', 'none', [5 * 10]],
  ['classic', 'create_prorations', [5 * 10]],
] as const)(
  'a Stripe subscription in %s billing mode bills a swap with proration_behavior %s in usage lines of the amounts %j',
  async (mode, behavior, amounts) => {
    const { stripe, metered, use, invoices, subscribe, advanceTo } = await setUp()
    const cheap = await metered({ unit_amount: 2 })
    const dear = await metered({ unit_amount: 5 })
    const subscription = await subscribe([cheap], { billing_mode: { type: mode } })
    await use(100)
    await advanceTo('2026-01-16T00:00:00Z')
    const change = {
      items: [{ id: subscription.items.data[0]?.id ?? '', price: dear.id }],
      proration_behavior: behavior,
    }
    const preview = await stripe.invoices.createPreview({
      subscription: subscription.id,
      subscription_details: change,
    })
    const swapped = await stripe.subscriptions.update(subscription.id, change)
    expect(swapped.billing_cycle_anchor).toBe(START)
    await use(10, seconds('2026-01-16T00:00:00Z'))
    await advanceTo('2026-02-01T01:00:00Z')
    const [renewal] = await invoices()
    expect(renewal?.lines.data.map((line) => line.amount)).toEqual(amounts)
    expect(preview.total).toBe((renewal?.total ?? 0) - 50)
  },
)

it.each(['flexible', 'classic'] as const)(
  'the Stripe sandbox removes a metered subscription item in %s billing mode',
  async (mode) => {
    const { stripe, metered, base, use, invoices, subscribe, advanceTo } = await setUp()
    const subscription = await subscribe([base, await metered()], { billing_mode: { type: mode } })
    await use(100)
    await advanceTo('2026-01-16T00:00:00Z')
    await stripe.subscriptionItems.del(subscription.items.data[1]?.id ?? '')
    await advanceTo('2026-02-01T01:00:00Z')
    expect((await invoices())[0]?.total).toBe(mode === 'flexible' ? 1200 : 1000)
  },
)

it('the Stripe sandbox starts a subscription with only metered prices without an invoice, and in classic mode with an invoice line of zero', async () => {
  const { stripe, metered, base, subscribe, invoices } = await setUp()
  const price = await metered()
  const flexible = await subscribe([price])
  expect(flexible).toMatchObject({ status: 'active', latest_invoice: null })
  const classic = await subscribe([price], { billing_mode: { type: 'classic' } })
  expect(classic.status).toBe('active')
  const [first] = await invoices()
  expect(linesOf(first)).toMatchObject([
    { amount: 0, quantity: 0, description: '0 × Calls (at $0.02 / month)' },
  ])
  // A metered price is not free: a price paid in advance joins its period.
  const joined = await stripe.subscriptions.update(flexible.id, { items: [{ price: base.id }] })
  expect(joined.billing_cycle_anchor).toBe(START)
})

it("the Stripe sandbox leaves a trial's usage unbilled", async () => {
  const { metered, base, use, invoices, subscribe, advanceTo } = await setUp()
  await subscribe([base, await metered()], { trial_end: seconds('2026-01-11T00:00:00Z') })
  await use(100)
  await advanceTo('2026-01-11T01:00:00Z')
  expect((await invoices())[0]).toMatchObject({ total: 1000 })
  await use(30)
  await advanceTo('2026-02-11T01:00:00Z')
  expect((await invoices())[0]).toMatchObject({ total: 1000 + 60 })
})

it("the Stripe sandbox bills the last period's usage when the subscription ends, also after an immediate cancellation with invoice_now", async () => {
  const { stripe, metered, use, invoices, subscribe, advanceTo } = await setUp()
  const price = await metered()
  const ending = await subscribe([price])
  await stripe.subscriptions.update(ending.id, { cancel_at_period_end: true })
  await use(100)
  await advanceTo('2026-02-01T01:00:00Z')
  expect((await stripe.subscriptions.retrieve(ending.id)).status).toBe('canceled')
  expect(await invoices()).toMatchObject([{ total: 200, status: 'paid' }])

  const asked = await subscribe([price])
  const forgotten = await subscribe([price])
  await use(50)
  await advanceTo('2026-02-02T00:00:00Z')
  await stripe.subscriptions.cancel(forgotten.id)
  expect(await invoices()).toHaveLength(1)
  await stripe.subscriptions.cancel(asked.id, { invoice_now: true })
  expect((await invoices())[0]).toMatchObject({ total: 100, status: 'paid' })
})

it('the Stripe sandbox rejects invalid parameters of metered prices, and metered prices without a meter', async () => {
  const { stripe, customer, metered, product } = await setUp()
  const price = await metered()
  const items = [{ price: price.id, quantity: 2 }]
  const refused = await catchStripeError(
    stripe.subscriptions.create({ customer: customer.id, items }),
  )
  expect(refused).toMatchObject({ statusCode: 400, param: 'items[0][quantity]' })
  const create = (params: object) =>
    stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 1,
      ...params,
    } as Stripe.PriceCreateParams)
  const monthly = { recurring: { interval: 'month' } }
  for (const [params, param] of [
    [{ recurring: { interval: 'month', usage_type: 'metered' } }, undefined],
    [{ recurring: { interval: 'month', meter: 'mtr_1' } }, 'recurring[meter]'],
    [{ ...monthly, tiers_mode: 'volume' }, 'tiers_mode'],
    [{ ...monthly, ...GRADUATED }, 'unit_amount'],
    [{ ...monthly, ...GRADUATED, unit_amount: undefined, tiers: undefined }, 'tiers'],
    [{ ...GRADUATED, unit_amount: undefined }, 'billing_scheme'],
    [
      {
        ...monthly,
        ...GRADUATED,
        unit_amount: undefined,
        transform_quantity: { divide_by: 2, round: 'up' },
      },
      'transform_quantity',
    ],
    [{ transform_quantity: { divide_by: 0, round: 'up' } }, 'transform_quantity[divide_by]'],
  ] as const) {
    expect([(await catchStripeError(create(params))).param, params]).toEqual([param, params])
  }
})

it('the Stripe sandbox bills seats by tiers in advance, and prorates their total', async () => {
  const { stripe, customer, product, invoices, advanceTo } = await setUp()
  const seats = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    recurring: { interval: 'month' },
    billing_scheme: 'tiered',
    tiers_mode: 'graduated',
    tiers: [
      { up_to: 5, unit_amount: 1000 },
      { up_to: 'inf', unit_amount: 600 },
    ],
    currency_options: {
      eur: {
        tiers: [
          { up_to: 5, unit_amount: 900 },
          { up_to: 'inf', unit_amount: 500 },
        ],
      },
    },
  })
  expect(seats).toMatchObject({ unit_amount: null, billing_scheme: 'tiered' })
  const shown = await stripe.prices.retrieve(seats.id, { expand: ['tiers', 'currency_options'] })
  expect(shown.tiers?.map((tier) => [tier.up_to, tier.unit_amount])).toEqual([
    [5, 1000],
    [null, 600],
  ])
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: seats.id, quantity: 7 }],
  })
  expect((await invoices())[0]).toMatchObject({ total: 5 * 1000 + 2 * 600 })
  await advanceTo('2026-01-16T12:00:00Z')
  await stripe.subscriptions.update(subscription.id, {
    items: [{ id: subscription.items.data[0]?.id ?? '', quantity: 4 }],
    proration_behavior: 'always_invoice',
  })
  // Half of the month: 31.00 back, 20.00 more.
  expect((await invoices())[0]).toMatchObject({ total: -1100 })
  const other = await stripe.customers.create({ payment_method: 'pm_card_visa' })
  const abroad = await stripe.invoices.createPreview({
    customer: other.id,
    currency: 'eur',
    subscription_details: { items: [{ price: seats.id, quantity: 6 }] },
  })
  expect(abroad.total).toBe(abroad.currency === 'eur' ? 5 * 900 + 500 : 5 * 1000 + 600)
})

it('the Stripe sandbox sells a one-time price in packages, and metered prices, through Checkout', async () => {
  const { sandbox, stripe, customer, metered, product, use, invoices, advanceTo } = await setUp()
  const pack = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 700,
    transform_quantity: { divide_by: 10, round: 'up' },
  })
  const item = await stripe.invoiceItems.create({
    customer: customer.id,
    pricing: { price: pack.id },
    quantity: 25,
  })
  expect(item.amount).toBe(2100)
  await stripe.invoiceItems.del(item.id)
  const price = await metered()
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: customer.id,
    line_items: [{ price: price.id }],
    success_url: 'https://example.com/done',
  })
  expect(session.amount_total).toBe(0)
  const wrong = stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: 'https://example.com/done',
  })
  expect((await catchStripeError(wrong)).param).toBe('line_items[0][quantity]')
  sandbox.stripe.completeCheckout(session.id)
  await use(10)
  await advanceTo('2026-02-01T01:00:00Z')
  expect((await invoices())[0]).toMatchObject({ total: 20 })
})

it('the Stripe sandbox returns a price with tiers and a meter in the format of a plan', async () => {
  const { stripe, metered } = await setUp()
  const price = await metered(GRADUATED)
  const plan = await stripe.plans.retrieve(price.id, { expand: ['tiers'] })
  expect(plan).toMatchObject({
    amount: null,
    billing_scheme: 'tiered',
    meter: price.recurring?.meter,
    tiers_mode: 'graduated',
    usage_type: 'metered',
  })
  expect(plan.tiers).toHaveLength(3)
  const made = await stripe.plans.create({
    currency: 'usd',
    interval: 'month',
    product: { name: 'Minutes' },
    amount: 100,
    usage_type: 'metered',
    meter: price.recurring?.meter ?? '',
    transform_usage: { divide_by: 60, round: 'down' },
  })
  expect(made.transform_usage).toEqual({ divide_by: 60, round: 'down' })
})

it('dropMeterEvents() removes accepted usage, and a thin event reports this', async () => {
  const { sandbox, stripe, customer, metered, use, subscribe } = await setUp()
  const { received, url } = await startReceiver()
  const type = 'v1.billing.meter.error_report_triggered'
  const secret = 'whsec_thin'
  // As at Stripe, `*` does not include these events.
  sandbox.stripe.registerWebhook(url, [type], { secret })
  sandbox.stripe.registerWebhook('http://127.0.0.1:1/', ['*'])
  const { id } = await subscribe([await metered({ unit_amount: 100 })])
  const first = await use(3)
  await use(4)
  sandbox.stripe.dropMeterEvents(customer.id, { named: 1 })
  await sandbox.outbox.flush()
  expect(received).toHaveLength(1)
  const [{ body, signature } = { body: '', signature: '' }] = received
  expect(JSON.parse(body)).not.toHaveProperty('data')
  const at = sandbox.clock.now().getTime()
  const told = stripe.parseEventNotification(body, signature, secret, 300, undefined, at)
  expect(told).toMatchObject({ type, related_object: { type: 'billing.meter' } })
  // The contract for responses does not include /v2.
  const { events } = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config).v2.core
  const event = await events.retrieve(told.id)
  const sample = { request: { identifier: first.identifier } }
  const errors = { code: 'meter_event_customer_not_found', error_count: 2, sample_errors: [sample] }
  expect(event).toMatchObject({ type, data: { reason: { error_count: 2, error_types: [errors] } } })
  const next = await stripe.invoices.createPreview({ subscription: id })
  expect(next.total).toBe(0)
  await expect(events.retrieve('evt_none')).rejects.toThrow("No such event: 'evt_none'")
  const page = new Stripe(sandbox.stripe.publishableKey, sandbox.stripe.config)
  await expect(page.v2.core.events.retrieve(told.id)).rejects.toThrow('Unrecognized request URL')
})

it('the Stripe sandbox charges for prices by usage and by quantity that the handle has seeded', async () => {
  const { sandbox, stripe, customer, use } = await setUp()
  const shared = { interval: 'month', meter: 'calls' } as const
  sandbox.stripe.seedPrice({ id: 'each', unitAmount: '0.5', packageSize: 10, ...shared })
  sandbox.stripe.seedPrice({
    id: 'seats',
    interval: 'month',
    tiersMode: 'volume',
    tiers: [
      { upTo: 10, unitAmount: 500, flatAmount: 100 },
      { upTo: null, unitAmount: '400' },
    ],
  })
  sandbox.stripe.seedPrice({ id: 'mails', unitAmount: 3, interval: 'month', meter: 'mails' })
  const meters = await stripe.billing.meters.list()
  expect(meters.data.map(({ event_name }) => event_name)).toEqual(['mails', 'calls'])
  const { id } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: 'seats', quantity: 2 }, { price: 'each' }],
  })
  await use(95)
  const { lines } = await stripe.invoices.createPreview({ subscription: id })
  expect(lines.data.map(({ amount }) => amount)).toEqual([5, 1000, 100])
})
