import { expect, it } from 'vitest'
import { catchStripeError, seconds, seedCustomer, startStripeSandbox } from './support.ts'

const NOW = seconds('2026-01-31T10:00:00Z')
const DAY = 86_400

async function setUp() {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const meter = await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  const report = (value: number | string, more: { identifier?: string; timestamp?: number } = {}) =>
    stripe.billing.meterEvents.create({
      event_name: 'calls',
      payload: { stripe_customer_id: customer.id, value: String(value) },
      ...more,
    })
  const total = async (start = NOW - 40 * DAY, end = NOW + 40 * DAY) => {
    const params = { customer: customer.id, start_time: start, end_time: end }
    return (await stripe.billing.meters.listEventSummaries(meter.id, params)).data[0]
      ?.aggregated_value
  }
  return { sandbox, stripe, customer, meter, report, total }
}

it('the Stripe sandbox accepts the identifier of a meter event once in 24 hours, and again afterwards', async () => {
  const { sandbox, report, total } = await setUp()
  const first = await report(5, { identifier: 'usage-1' })
  expect(first).toMatchObject({ identifier: 'usage-1', timestamp: NOW, created: NOW })
  const again = await catchStripeError(report(7, { identifier: 'usage-1' }))
  expect(again).toMatchObject({
    statusCode: 400,
    message: 'An event already exists with identifier usage-1.',
  })
  await sandbox.clock.advance({ seconds: DAY - 1 })
  await catchStripeError(report(7, { identifier: 'usage-1' }))
  expect(await total()).toBe(5)
  await sandbox.clock.advance({ seconds: 1 })
  await report(7, { identifier: 'usage-1' })
  expect(await total()).toBe(12)
})

it.each([
  ['35 days ago', -35 * DAY, null],
  ['a second more than 35 days ago', -35 * DAY - 1, 'timestamp_too_far_in_past'],
  ['5 minutes ahead', 300, null],
  ['a second more than 5 minutes ahead', 301, 'timestamp_in_future'],
])(
  'the Stripe sandbox accepts a meter event only if its timestamp is within the limits: %s',
  async (_when, offset, code) => {
    const { report, total } = await setUp()
    if (code === null) await report(1, { timestamp: NOW + offset })
    else
      expect(await catchStripeError(report(1, { timestamp: NOW + offset }))).toMatchObject({ code })
    expect(await total()).toBe(code === null ? 1 : 0)
  },
)

it('the Stripe sandbox cancels a meter event within 24 hours of its receipt, whatever its timestamp', async () => {
  const { sandbox, stripe, report, total } = await setUp()
  const cancel = (identifier: string) =>
    stripe.billing.meterEventAdjustments.create({
      event_name: 'calls',
      type: 'cancel',
      cancel: { identifier },
    })
  await report(5, { identifier: 'a', timestamp: NOW - 20 * DAY })
  await report(7, { identifier: 'b' })
  await sandbox.clock.advance({ seconds: DAY - 1 })
  expect(await cancel('a')).toMatchObject({ status: 'complete', cancel: { identifier: 'a' } })
  expect(await total()).toBe(7)
  expect((await catchStripeError(cancel('a'))).message).toMatch('already been cancelled')
  await sandbox.clock.advance({ seconds: 1 })
  expect((await catchStripeError(cancel('b'))).code).toBe('resource_missing')
  expect((await catchStripeError(cancel('never'))).code).toBe('resource_missing')
  expect(await total()).toBe(7)
})

it("the Stripe sandbox aggregates a meter's events by its formula (sum, count or last), separately for each time window", async () => {
  const { stripe, customer, report, meter } = await setUp()
  const noon = seconds('2026-01-30T12:00:00Z')
  for (const [value, at] of [
    ['2.5', noon],
    ['4', noon + 60],
    ['-1', noon + 3700],
  ] as const) {
    await report(value, { timestamp: at })
  }
  const range = { customer: customer.id, start_time: noon, end_time: noon + 7200 }
  const list = async (id: string, by?: 'hour') =>
    (
      await stripe.billing.meters.listEventSummaries(id, {
        ...range,
        ...(by ? { value_grouping_window: by } : {}),
      })
    ).data.map((each) => each.aggregated_value)
  expect(await list(meter.id)).toEqual([5.5])
  expect(await list(meter.id, 'hour')).toEqual([-1, 6.5])
  const others = { last: -1, count: 3 } as const
  for (const formula of ['last', 'count'] as const) {
    const other = await stripe.billing.meters.create({
      display_name: formula,
      event_name: formula,
      default_aggregation: { formula },
    })
    for (const [value, at] of [
      ['4', noon + 60],
      ['-1', noon + 3700],
      ['2.5', noon],
    ] as const) {
      await stripe.billing.meterEvents.create({
        event_name: formula,
        payload: { stripe_customer_id: customer.id, value },
        timestamp: at,
      })
    }
    expect(await list(other.id)).toEqual([others[formula]])
  }
  const hourly = await stripe.billing.meters.create({
    display_name: 'Sums',
    event_name: 'sums',
    event_time_window: 'hour',
    default_aggregation: { formula: 'sum' },
  })
  for (const [value, at] of [
    ['10', noon],
    ['12', noon + 60],
    ['5', noon + 3700],
  ] as const) {
    await stripe.billing.meterEvents.create({
      event_name: 'sums',
      payload: { stripe_customer_id: customer.id, value },
      timestamp: at,
    })
  }
  expect(await list(hourly.id)).toEqual([17])
})

it('the Stripe sandbox requires usage summaries to start and end at the boundaries of a window', async () => {
  const { stripe, customer, meter } = await setUp()
  const ask = (params: object) =>
    stripe.billing.meters.listEventSummaries(meter.id, {
      customer: customer.id,
      start_time: NOW,
      end_time: NOW + DAY,
      ...params,
    })
  expect((await catchStripeError(ask({ start_time: NOW + 1 }))).param).toBe('start_time')
  expect((await catchStripeError(ask({ value_grouping_window: 'day' }))).message).toMatch('UTC day')
  expect((await catchStripeError(ask({ end_time: NOW }))).param).toBe('end_time')
})

it.each([
  ['an unknown event name', { event_name: 'never' }, 'no_meter'],
  ['no customer', { payload: { value: '1' } }, 'meter_event_no_customer_defined'],
  [
    'an unknown customer',
    { payload: { value: '1', stripe_customer_id: 'cus_never' } },
    'meter_event_customer_not_found',
  ],
  ['no value', { payload: {} }, 'meter_event_value_not_found'],
  ['a value that is no number', { payload: { value: 'many' } }, 'meter_event_invalid_value'],
  [
    'a value with sixteen digits',
    { payload: { value: '123456789.1234567' } },
    'meter_event_value_too_many_digits',
  ],
  [
    'a value with thirteen decimals',
    { payload: { value: '0.0000000000001' } },
    'meter_event_value_too_many_digits',
  ],
])('the Stripe sandbox rejects a meter event with %s', async (_what, params: object, code) => {
  const { stripe, customer } = await setUp()
  const { payload = {}, ...rest } = params as { payload?: Record<string, string> }
  const whose =
    code === 'meter_event_no_customer_defined' ? {} : { stripe_customer_id: customer.id }
  const call = stripe.billing.meterEvents.create({
    event_name: 'calls',
    payload: { ...(code === 'no_meter' ? { value: '1' } : {}), ...whose, ...payload },
    ...rest,
  })
  expect(await catchStripeError(call)).toMatchObject({ statusCode: 400, code })
})

it('the Stripe sandbox rejects events and prices for an inactive meter, and allows its event name for another meter', async () => {
  const { sandbox, stripe, meter, report } = await setUp()
  const create = () =>
    stripe.billing.meters.create({
      display_name: 'Calls again',
      event_name: 'calls',
      default_aggregation: { formula: 'sum' },
    })
  expect((await catchStripeError(create())).code).toBe('resource_already_exists')
  await stripe.billing.meters.update(meter.id, { display_name: 'API calls' })
  await stripe.billing.meters.deactivate(meter.id)
  expect((await catchStripeError(report(1))).code).toBe('archived_meter')
  const price = stripe.prices.create({
    currency: 'usd',
    unit_amount: 1,
    product_data: { name: 'Calls' },
    recurring: { interval: 'month', usage_type: 'metered', meter: meter.id },
  })
  expect((await catchStripeError(price)).param).toBe('recurring[meter]')
  await stripe.billing.meters.reactivate(meter.id)
  await report(1)
  await stripe.billing.meters.deactivate(meter.id)
  await create()
  const told = sandbox.stripe.events().map((event) => event.type)
  expect(told.filter((type) => String(type).startsWith('billing.meter.'))).toEqual([
    'billing.meter.created',
    'billing.meter.updated',
    'billing.meter.deactivated',
    'billing.meter.reactivated',
    'billing.meter.deactivated',
    'billing.meter.created',
  ])
})

it.each(['0.000000000001', '123456789012345', '-1234567890.12345'])(
  'the Stripe sandbox accepts a meter event value with at most 15 digits: %s',
  async (value) => {
    const { report } = await setUp()
    expect((await report(value)).payload.value).toBe(value)
  },
)
