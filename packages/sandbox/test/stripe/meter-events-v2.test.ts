import StripeClient, { type Stripe } from 'stripe'
import { expect, it } from 'vitest'
import { startReceiver } from './receiver.ts'
import { catchStripeError, seedCustomer, startStripeSandbox } from './support.ts'

async function setUp() {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const meter = await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  const event = (value: string, more: Partial<Stripe.V2.Billing.MeterEventCreateParams> = {}) => ({
    event_name: 'calls',
    payload: { stripe_customer_id: customer.id, value },
    ...more,
  })
  const now = Math.floor(sandbox.clock.now().getTime() / 1000)
  const counted = async () => {
    const { data } = await stripe.billing.meters.listEventSummaries(meter.id, {
      customer: customer.id,
      start_time: now - (now % 60) - 60,
      end_time: now - (now % 60) + 3600,
    })
    return data.reduce((sum, summary) => sum + Number(summary.aggregated_value), 0)
  }
  return { sandbox, stripe, customer, meter, event, counted }
}

it('the Stripe sandbox counts a meter event of v2 and returns it in v2 format', async () => {
  const { stripe, event, counted } = await setUp()
  const timestamp = '2026-01-31T09:59:30.000Z'
  const made = await stripe.v2.billing.meterEvents.create(
    event('3', { identifier: 'once', timestamp }),
  )
  expect(made).toMatchObject({
    object: 'v2.billing.meter_event',
    created: '2026-01-31T10:00:00.000Z',
    event_name: 'calls',
    identifier: 'once',
    livemode: false,
    payload: event('3').payload,
    timestamp,
  })
  expect(made).not.toHaveProperty('id')
  const another = await stripe.v2.billing.meterEvents.create(event('4'))
  expect(another.timestamp).toBe('2026-01-31T10:00:00.000Z')
  expect(await counted()).toBe(7)
})

it('the Stripe sandbox cancels a meter event of v2 by its identifier', async () => {
  const { stripe, event, counted } = await setUp()
  await stripe.v2.billing.meterEvents.create(event('3', { identifier: 'once' }))
  const adjustment = {
    event_name: 'calls',
    type: 'cancel',
    cancel: { identifier: 'once' },
  } as const
  const made = await stripe.v2.billing.meterEventAdjustments.create(adjustment)
  expect(made).toMatchObject({
    id: expect.any(String),
    object: 'v2.billing.meter_event_adjustment',
    cancel: { identifier: 'once' },
    created: '2026-01-31T10:00:00.000Z',
    event_name: 'calls',
    livemode: false,
    status: 'complete',
    type: 'cancel',
  })
  expect(await counted()).toBe(0)
  const again = stripe.v2.billing.meterEventAdjustments.create(adjustment)
  expect(await catchStripeError(again)).toMatchObject({ statusCode: 400, code: 'invalid_fields' })
})

it.each<[string, object]>([
  ['no_meter', { event_name: 'other' }],
  ['meter_event_no_customer_defined', { payload: { value: '1' } }],
  ['meter_event_customer_not_found', { payload: { value: '1', stripe_customer_id: 'cus_other' } }],
  ['duplicate_meter_event', { identifier: 'once' }],
  ['timestamp_too_far_in_past', { timestamp: '2025-12-01T00:00:00Z' }],
  ['timestamp_in_future', { timestamp: '2026-01-31T10:06:00Z' }],
  ['invalid_fields', { timestamp: 'yesterday' }],
  ['invalid_fields', { timestamp: '2026-01-31' }],
  ['invalid_fields', { event_name: undefined }],
  ['invalid_fields', { payload: undefined }],
  ['invalid_fields', { payload: 'all' }],
  ['invalid_fields', { amount: '1' }],
])(
  'the Stripe sandbox rejects a meter event of v2 with %s and counts nothing',
  async (code, more) => {
    const { stripe, event, counted } = await setUp()
    await stripe.v2.billing.meterEvents.create(event('5', { identifier: 'once' }))
    const asked = stripe.v2.billing.meterEvents.create(event('1', more))
    expect(await catchStripeError(asked)).toMatchObject({
      type: 'StripeInvalidRequestError',
      statusCode: 400,
      code,
    })
    expect(await counted()).toBe(5)
  },
)

it("the Stripe sandbox counts a meter event of v2 at the time of its customer's test clock", async () => {
  const { stripe, event } = await setUp()
  const clock = await stripe.testHelpers.testClocks.create({ frozen_time: 1_800_000_000 })
  const { id } = await stripe.customers.create({ test_clock: clock.id })
  const payload = { stripe_customer_id: id, value: '1' }
  const { timestamp } = await stripe.v2.billing.meterEvents.create(event('1', { payload }))
  expect(timestamp).toBe(new Date(1_800_000_000_000).toISOString())
})

it('the Stripe sandbox replays the response to a meter event with the same idempotency key', async () => {
  const { stripe, event, counted } = await setUp()
  const send = (value: string) =>
    stripe.v2.billing.meterEvents.create(event(value), { idempotencyKey: 'key' })
  expect((await send('2')).identifier).toBe((await send('2')).identifier)
  expect(await catchStripeError(send('3'))).toMatchObject({ type: 'StripeIdempotencyError' })
  expect(await counted()).toBe(2)
})

async function openStream({ stripe, sandbox }: Awaited<ReturnType<typeof setUp>>) {
  const session = await stripe.v2.billing.meterEventSession.create()
  const client = new StripeClient(session.authentication_token, {
    ...sandbox.stripe.config,
    maxNetworkRetries: 0,
  })
  const send = (events: Stripe.V2.Billing.MeterEventCreateParams[]) =>
    client.v2.billing.meterEventStream.create({ events })
  return { session, send }
}

it('the Stripe sandbox counts the events of a meter event stream until its session expires', async () => {
  const test = await setUp()
  const { sandbox, stripe, event, counted } = test
  const { session, send } = await openStream(test)
  expect(session).toMatchObject({
    id: expect.any(String),
    object: 'v2.billing.meter_event_session',
    created: '2026-01-31T10:00:00.000Z',
    expires_at: '2026-01-31T10:15:00.000Z',
    livemode: false,
  })
  await send([event('2'), event('3')])
  await sandbox.clock.advance({ minutes: 14 })
  await send([event('4')])
  expect(await counted()).toBe(9)
  await sandbox.clock.advance({ minutes: 1 })
  expect(await catchStripeError(send([event('5')]))).toMatchObject({
    type: 'TemporarySessionExpiredError',
  })
  const withKey = stripe.v2.billing.meterEventStream.create({ events: [event('5')] })
  expect(await catchStripeError(withKey)).toMatchObject({ statusCode: 401 })
  expect(await counted()).toBe(9)
})

it('the Stripe sandbox accepts the token of a meter event session for the meter event stream only', async () => {
  const test = await setUp()
  const { session } = await openStream(test)
  const thief = new StripeClient(session.authentication_token, test.sandbox.stripe.config)
  expect(await catchStripeError(thief.customers.list())).toMatchObject({ statusCode: 401 })
  expect(await catchStripeError(thief.v2.core.events.list())).toMatchObject({ statusCode: 401 })
})

it('the Stripe sandbox reports invalid events of a meter event stream by a thin event, and counts the others', async () => {
  const test = await setUp()
  const { sandbox, stripe, meter, event, counted } = test
  const receiver = await startReceiver()
  await stripe.v2.core.eventDestinations.create({
    name: 'Usage',
    type: 'webhook_endpoint',
    event_payload: 'thin',
    enabled_events: ['v1.billing.meter.error_report_triggered', 'v1.billing.meter.no_meter_found'],
    webhook_endpoint: { url: receiver.url },
  })
  const { send } = await openStream(test)
  await send([
    event('2', { identifier: 'good' }),
    event('many', { identifier: 'bad' }),
    event('1', { identifier: 'good' }),
    event('1', { identifier: 'lost', event_name: 'other' }),
  ])
  expect(await counted()).toBe(2)
  await sandbox.outbox.flush()
  const sent = receiver.received.map(({ body }) => JSON.parse(body) as { id: string; type: string })
  expect(sent.map(({ type }) => type)).toEqual([
    'v1.billing.meter.error_report_triggered',
    'v1.billing.meter.no_meter_found',
  ])
  const read = await stripe.v2.core.events.retrieve(sent[0]?.id ?? '')
  expect(read).toMatchObject({
    related_object: { id: meter.id },
    data: {
      reason: {
        error_count: 2,
        error_types: [
          {
            code: 'meter_event_invalid_value',
            sample_errors: [{ request: { identifier: 'bad' } }],
          },
          { code: 'duplicate_meter_event', sample_errors: [{ request: { identifier: 'good' } }] },
        ],
      },
    },
  })
})

it.each([0, 101])('the Stripe sandbox rejects a meter event stream of %i events', async (count) => {
  const test = await setUp()
  const { send } = await openStream(test)
  const events = Array.from({ length: count }, () => test.event('1'))
  expect(await catchStripeError(send(events))).toMatchObject({
    code: 'invalid_fields',
    param: 'events',
  })
  expect(await test.counted()).toBe(0)
})
