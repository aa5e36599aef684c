import { expect, it } from 'vitest'
import { ACACIA, BASIL, startVersions, type UntypedResponse } from './old-versions.ts'
import { seconds, seedCustomer } from './support.ts'

const START = seconds('2026-01-01T00:00:00Z')
const DAY = 86_400
type Form = Readonly<Record<string, string>>

/** Creates a subscription to a metered price without a meter, as in versions before basil. */
async function startMetered(terms: Form = { unit_amount: '2' }, aggregate?: string) {
  const setup = await startVersions({ now: new Date(START * 1000) })
  const { call, send, stripe, sandbox } = setup
  const { customer } = await seedCustomer(stripe)
  const price = await call(ACACIA, '/prices', {
    'product_data[name]': 'Calls',
    currency: 'usd',
    'recurring[interval]': 'month',
    'recurring[usage_type]': 'metered',
    ...(aggregate === undefined ? {} : { 'recurring[aggregate_usage]': aggregate }),
    ...terms,
  })
  const subscription = await call(ACACIA, '/subscriptions', {
    customer: customer.id,
    'items[0][price]': price.id,
  })
  const item = (subscription.items as { data: UntypedResponse[] }).data[0] as UntypedResponse
  const path = `/subscription_items/${item.id}/usage_records`
  const use = (quantity: number, more: Form = {}) =>
    call(ACACIA, path, { quantity: String(quantity), ...more })
  const refuse = async (more: Form) => {
    const { status, body } = await send(ACACIA, path, { quantity: '1', ...more })
    return { status, ...(body.error as object) }
  }
  const summaries = async () =>
    (await call(ACACIA, `/subscription_items/${item.id}/usage_record_summaries`))
      .data as unknown as UntypedResponse[]
  const billed = async () => {
    const { data } = await stripe.invoices.list({ customer: customer.id })
    return data.map(({ total }) => total)
  }
  const advanceTo = (text: string) => sandbox.clock.advanceTo(new Date(text))
  return {
    ...setup,
    customer,
    price,
    subscription,
    item,
    path,
    use,
    refuse,
    summaries,
    billed,
    advanceTo,
  }
}

it('the Stripe sandbox adds or sets usage records at a timestamp, and bills the sum when the period ends', async () => {
  const { use, summaries, billed, advanceTo, item, price, call, stripe } = await startMetered()
  expect(price.recurring).toMatchObject({ usage_type: 'metered', aggregate_usage: 'sum' })
  expect((await call(ACACIA, `/plans/${price.id}`)).aggregate_usage).toBe('sum')
  await advanceTo('2026-01-10T00:00:00Z')
  const timestamp = String(START + 5 * DAY)
  expect(await use(100, { timestamp })).toEqual({
    id: expect.stringMatching(/^mbur_/),
    object: 'usage_record',
    livemode: false,
    quantity: 100,
    subscription_item: item.id,
    timestamp: START + 5 * DAY,
  })
  expect((await use(20, { timestamp, action: 'increment' })).quantity).toBe(120)
  expect((await use(70, { timestamp, action: 'set' })).quantity).toBe(70)
  expect((await use(70, { timestamp, action: 'set' })).quantity).toBe(70)
  expect((await use(5)).timestamp).toBe(START + 9 * DAY)
  const now = { subscription_item: item.id, object: 'usage_record_summary', livemode: false }
  expect(await summaries()).toMatchObject([{ ...now, invoice: null, total_usage: 75 }])
  await advanceTo('2026-02-01T02:00:00Z')
  expect(await billed()).toEqual([150, 0])
  const [newest] = (await stripe.invoices.list({ limit: 1 })).data
  expect(await summaries()).toMatchObject([
    { total_usage: 0, period: { start: seconds('2026-02-01T00:00:00Z') } },
    { total_usage: 75, invoice: newest?.id, period: { start: START } },
  ])
})

it.each([
  ['sum', [10 + 30 + 20, 5]],
  ['max', [30, 5]],
  ['last_during_period', [20, 5]],
  ['last_ever', [20, 5]],
])(
  'the Stripe sandbox aggregates usage records with aggregate_usage set to %s',
  async (aggregate, [first = 0, second = 0]) => {
    const { use, billed, advanceTo } = await startMetered({ unit_amount: '100' }, aggregate)
    await advanceTo('2026-01-10T00:00:00Z')
    for (const [day, quantity] of [
      [1, 10],
      [8, 20],
      [4, 30],
    ] as const) {
      await use(quantity, { timestamp: String(START + day * DAY) })
    }
    await advanceTo('2026-02-02T00:00:00Z')
    await use(5)
    await advanceTo('2026-03-02T00:00:00Z')
    await advanceTo('2026-04-02T00:00:00Z')
    const third = aggregate === 'last_ever' ? 5 : 0
    expect(await billed()).toEqual([third * 100, second * 100, first * 100, 0])
  },
)

it('the Stripe sandbox fills tiers with recorded usage, and shows it in previews', async () => {
  const { use, billed, advanceTo, stripe, subscription } = await startMetered({
    billing_scheme: 'tiered',
    tiers_mode: 'graduated',
    'tiers[0][up_to]': '100',
    'tiers[0][unit_amount]': '0',
    'tiers[1][up_to]': 'inf',
    'tiers[1][unit_amount]': '3',
  })
  await use(150)
  const preview = await stripe.invoices.createPreview({ subscription: subscription.id })
  expect(preview.total).toBe(150)
  await advanceTo('2026-02-01T02:00:00Z')
  expect((await billed())[0]).toBe(150)
})

it('the Stripe sandbox accepts usage records for the current period only', async () => {
  const { refuse, advanceTo } = await startMetered()
  await advanceTo('2026-02-01T00:30:00Z')
  expect(await refuse({ timestamp: String(START + DAY) })).toMatchObject({
    status: 400,
    param: 'timestamp',
    message:
      "Cannot create the usage record with this timestamp because timestamps must be after the subscription's last invoice period (or current period start time).",
  })
  const now = seconds('2026-02-01T00:30:00Z')
  expect(await refuse({ timestamp: String(now + 301) })).toMatchObject({ param: 'timestamp' })
  expect(await refuse({ quantity: '-1' })).toMatchObject({ param: 'quantity' })
  expect(await refuse({ action: 'add' })).toMatchObject({ param: 'action' })
  expect(await refuse({ timestamp: String(now + 300) })).toEqual({ status: 200 })
})

it('the Stripe sandbox rejects usage records for a price with a meter, whose usage is reported to the meter', async () => {
  const { call, send, stripe, customer } = await startMetered()
  const meter = await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  const create = async (more: Form) => {
    const price = await call(ACACIA, '/prices', {
      'product_data[name]': 'Calls',
      currency: 'usd',
      unit_amount: '1',
      'recurring[interval]': 'month',
      ...more,
    })
    const { items } = await call(ACACIA, '/subscriptions', {
      customer: customer.id,
      'items[0][price]': price.id,
    })
    const id = (items as { data: UntypedResponse[] }).data[0]?.id
    return send(ACACIA, `/subscription_items/${id}/usage_records`, { quantity: '1' })
  }
  const metered = await create({
    'recurring[usage_type]': 'metered',
    'recurring[meter]': meter.id,
  })
  expect(metered).toMatchObject({
    status: 400,
    body: {
      error: {
        message: expect.stringContaining('is not on the legacy metered billing system'),
      },
    },
  })
  expect((await create({})).status).toBe(400)
})

it('the Stripe sandbox deletes a subscription item and its usage records with clear_usage', async () => {
  const { call, send, stripe, use, item, subscription } = await startMetered()
  const flat = await stripe.prices.create({
    product_data: { name: 'Flat' },
    currency: 'usd',
    unit_amount: 100,
    recurring: { interval: 'month' },
  })
  await stripe.subscriptionItems.create({ subscription: subscription.id, price: flat.id })
  await use(7)
  const path = `/subscriptions/${subscription.id}`
  const without = { 'items[0][id]': item.id, 'items[0][deleted]': 'true' }
  expect((await send(ACACIA, path, without)).status).toBe(400)
  await call(ACACIA, path, { ...without, 'items[0][clear_usage]': 'true' })
  expect((await stripe.subscriptions.retrieve(subscription.id)).items.data).toHaveLength(1)
})

it('the Stripe sandbox rejects usage records in API versions since basil', async () => {
  const { send, path, price, customer, stripe } = await startMetered()
  const backed = {
    status: 400,
    body: {
      error: {
        message:
          'Starting with Stripe version `2025-03-31.basil`, metered prices must be backed by meters.',
      },
    },
  }
  for (const version of [BASIL, null]) {
    expect((await send(version, path, { quantity: '1' })).status).toBe(404)
    const metered = { currency: 'usd', unit_amount: '1', 'product_data[name]': 'Calls' }
    const recurring = { 'recurring[interval]': 'month', 'recurring[usage_type]': 'metered' }
    expect(await send(version, '/prices', { ...metered, ...recurring })).toMatchObject(backed)
    const items = { customer: customer.id, 'items[0][price]': price.id }
    expect(await send(version, '/subscriptions', items)).toMatchObject(backed)
  }
  const session = stripe.checkout.sessions.create({
    mode: 'subscription',
    success_url: 'https://shop.example/done',
    line_items: [{ price: price.id }],
  })
  await expect(session).rejects.toThrow('metered prices must be backed by meters')
})

it('the Stripe sandbox accepts usage records for metered plans', async () => {
  const { call, send } = await startMetered()
  const plan = {
    currency: 'usd',
    amount: '1',
    interval: 'month',
    'product[name]': 'Calls',
    usage_type: 'metered',
    aggregate_usage: 'max',
  }
  expect(await call(ACACIA, '/plans', plan)).toMatchObject({
    usage_type: 'metered',
    aggregate_usage: 'max',
    meter: null,
  })
  const wrong = await send(ACACIA, '/plans', { ...plan, aggregate_usage: 'mean' })
  expect(wrong.body.error).toMatchObject({ param: 'aggregate_usage' })
  const licensed = await send(ACACIA, '/plans', { ...plan, usage_type: 'licensed' })
  expect(licensed.body.error).toMatchObject({ param: 'aggregate_usage' })
})
