import StripeClient, { type Stripe } from 'stripe'
import { expect, it } from 'vitest'
import type { WebhookOutbox } from '../../src/core/outbox.ts'
import { ACACIA } from './old-versions.ts'
import { startReceiver } from './receiver.ts'
import { catchStripeError, seconds, seedCustomer, startStripeSandbox } from './support.ts'

const SECRET = 'webhook_endpoint.signing_secret'
const URL = 'webhook_endpoint.url'
const NOW = seconds('2026-01-31T10:00:00Z')

async function setUp() {
  const { sandbox, stripe } = await startStripeSandbox()
  const receiver = await startReceiver()
  const destinations = stripe.v2.core.eventDestinations
  const create = (more: Partial<Stripe.V2.Core.EventDestinationCreateParams> = {}) =>
    destinations.create({
      name: 'Ours',
      type: 'webhook_endpoint',
      event_payload: 'snapshot',
      enabled_events: ['customer.created'],
      webhook_endpoint: { url: receiver.url },
      include: [SECRET, URL],
      ...more,
    })
  const flush = async () => {
    await sandbox.outbox.flush()
    return receiver.received
  }
  const verified = ({ body, signature }: { body: string; signature: string }, secret = '') =>
    stripe.webhooks.constructEvent(body, signature, secret)
  return { sandbox, stripe, receiver, destinations, create, flush, verified }
}

it('the Stripe sandbox returns the secret of an event destination only on creation, and its URL on request', async () => {
  const { create, destinations, receiver } = await setUp()
  const made = await create({ description: 'For tests', metadata: { a: '1' } })
  expect(made).toMatchObject({
    id: expect.stringMatching(/^ed_test_/),
    object: 'v2.core.event_destination',
    created: '2026-01-31T10:00:00.000Z',
    description: 'For tests',
    enabled_events: ['customer.created'],
    event_payload: 'snapshot',
    events_from: ['@self'],
    livemode: false,
    metadata: { a: '1' },
    name: 'Ours',
    snapshot_api_version: '2026-10-28.endive',
    status: 'enabled',
    type: 'webhook_endpoint',
    webhook_endpoint: { url: receiver.url, signing_secret: expect.stringMatching(/^whsec_/) },
  })
  const { webhook_endpoint: bare } = await create({ include: [] })
  expect(bare).toEqual({})
  const again = await destinations.retrieve(made.id)
  expect(again.webhook_endpoint).toEqual({})
  const shown = await destinations.retrieve(made.id, { include: [URL] })
  expect(shown.webhook_endpoint).toEqual({ url: receiver.url })
  const secret = destinations.retrieve(made.id, { include: [SECRET] })
  expect(await catchStripeError(secret)).toMatchObject({ statusCode: 400, code: 'invalid_fields' })
})

it('the Stripe sandbox lists event destinations page by page, newest first', async () => {
  const { create, destinations, receiver } = await setUp()
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create({ name })
  const names: string[] = []
  for await (const each of destinations.list({ limit: 2, include: [URL] })) {
    expect(each.webhook_endpoint?.url).toBe(receiver.url)
    names.push(each.name)
  }
  expect(names).toEqual(['e', 'd', 'c', 'b', 'a'])
  const first = await destinations.list({ limit: 2 })
  expect(first.next_page_url).toContain('/v2/core/event_destinations?')
  expect(first.previous_page_url).toBeNull()
})

it('the Stripe sandbox changes, disables, enables and deletes an event destination', async () => {
  const { create, destinations } = await setUp()
  const { id } = await create({ metadata: { a: '1', b: '1' } })
  const changed = await destinations.update(id, {
    name: 'Other',
    enabled_events: ['*'],
    metadata: { a: '2', b: '' },
    webhook_endpoint: { url: 'https://other.example/hook' },
    include: [URL],
  })
  expect(changed).toMatchObject({
    name: 'Other',
    enabled_events: ['*'],
    metadata: { a: '2' },
    webhook_endpoint: { url: 'https://other.example/hook' },
  })
  expect(await destinations.disable(id)).toMatchObject({
    status: 'disabled',
    status_details: { disabled: { reason: 'user' } },
  })
  expect(await destinations.enable(id)).toMatchObject({ status: 'enabled' })
  expect(await destinations.enable(id)).not.toHaveProperty('status_details')
  expect(await destinations.del(id)).toMatchObject({ id })
  expect(await catchStripeError(destinations.retrieve(id))).toMatchObject({ statusCode: 404 })
})

it('the Stripe sandbox delivers signed snapshot events to a destination in its API version, as to a webhook endpoint', async () => {
  const { stripe, create, destinations, flush, verified } = await setUp()
  const made = await create({ snapshot_api_version: ACACIA })
  const customer = await stripe.customers.create({ name: 'Ada' })
  const received = await flush()
  expect(received).toHaveLength(1)
  const event = verified(received[0] as never, made.webhook_endpoint?.signing_secret)
  expect(event).toMatchObject({
    type: 'customer.created',
    api_version: ACACIA,
    data: { object: { id: customer.id } },
  })
  await destinations.disable(made.id)
  await stripe.customers.create({ name: 'Bob' })
  expect(await flush()).toHaveLength(1)
})

it('the Stripe sandbox delivers thin events to a destination, and returns the events by their ids', async () => {
  const { stripe, create, flush } = await setUp()
  const made = await create({
    event_payload: 'thin',
    enabled_events: ['v1.customer.created', 'v1.billing.meter.error_report_triggered'],
  })
  const customer = await stripe.customers.create({ name: 'Ada' }, { idempotencyKey: 'key-1' })
  const [received] = await flush()
  const secret = made.webhook_endpoint?.signing_secret ?? ''
  const { body, signature } = received ?? { body: '', signature: '' }
  const notice = stripe.parseEventNotification(
    body,
    signature,
    secret,
    300,
    undefined,
    NOW * 1000,
  ) as unknown as { id: string; type: string; fetchRelatedObject(): Promise<Stripe.Customer> }
  expect(notice.type).toBe('v1.customer.created')
  expect(await notice.fetchRelatedObject()).toMatchObject({ id: customer.id, name: 'Ada' })
  const event = await stripe.v2.core.events.retrieve(notice.id)
  expect(event).toMatchObject({
    type: 'v1.customer.created',
    related_object: { id: customer.id, type: 'customer' },
    reason: { type: 'request', request: { idempotency_key: 'key-1' } },
  })
  const snapshot = await stripe.events.retrieve(String(event.snapshot_event))
  expect(snapshot).toMatchObject({ type: 'customer.created' })
})

it('the Stripe sandbox sends the event about dropped usage to a destination for thin events', async () => {
  const { sandbox, stripe, create, flush } = await setUp()
  const type = 'v1.billing.meter.error_report_triggered'
  await create({ event_payload: 'thin', enabled_events: [type] })
  const { customer } = await seedCustomer(stripe)
  await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  await stripe.billing.meterEvents.create({
    event_name: 'calls',
    payload: { stripe_customer_id: customer.id, value: '1' },
  })
  sandbox.stripe.dropMeterEvents(customer.id)
  const received = await flush()
  expect(received.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual([type])
})

it('the Stripe sandbox does not list an event destination for thin events among the webhook endpoints', async () => {
  const { sandbox, create } = await setUp()
  await create({ event_payload: 'thin', enabled_events: ['v1.customer.created'] })
  expect(sandbox.stripe.webhooks()).toEqual([])
})

it('the Stripe sandbox sends a ping event to an event destination', async () => {
  const { create, destinations, flush, stripe } = await setUp()
  const { id } = await create()
  const event = await destinations.ping(id)
  expect(event).toMatchObject({ type: 'v2.core.event_destination.ping' })
  const [received] = await flush()
  expect(JSON.parse(received?.body ?? '')).toMatchObject({
    id: event.id,
    related_object: { id, type: 'v2.core.event_destination' },
  })
  expect(await stripe.v2.core.events.retrieve(event.id)).toMatchObject({ id: event.id })
  await destinations.disable(id)
  expect(await catchStripeError(destinations.ping(id))).toMatchObject({ statusCode: 400 })
})

it('the Stripe sandbox rejects event destinations for events that it cannot send, and bodies that are not JSON', async () => {
  const { create, sandbox } = await setUp()
  for (const [params, param] of [
    [{ type: 'amazon_eventbridge' }, 'type'],
    [{ webhook_endpoint: undefined }, 'webhook_endpoint'],
    [{ webhook_endpoint: { url: 'nowhere' } }, 'webhook_endpoint[url]'],
    [{ enabled_events: [] }, 'enabled_events'],
    [{ enabled_events: ['customer.made'] }, 'enabled_events[0]'],
    [{ enabled_events: ['v1.customer.created'] }, 'enabled_events[0]'],
    [{ event_payload: 'thin', enabled_events: ['customer.created'] }, 'enabled_events[0]'],
    [
      {
        event_payload: 'thin',
        enabled_events: ['v1.customer.created'],
        snapshot_api_version: ACACIA,
      },
      'snapshot_api_version',
    ],
    [{ snapshot_api_version: '2025-01-01' }, 'snapshot_api_version'],
    [{ events_from: ['@accounts'] }, 'events_from'],
    [{ colour: 'red' }, 'colour'],
  ] as const) {
    const refused = await catchStripeError(create(params as never))
    expect([refused.statusCode, refused.param]).toEqual([400, param])
  }
  const { url, apiKey } = sandbox.stripe
  const response = await fetch(`${url}/v2/core/event_destinations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: '{',
  })
  expect(response.status).toBe(400)
  const unknown = await fetch(`${url}/v2/core/accounts`, {
    headers: { authorization: `Bearer ${apiKey}` },
  })
  expect(unknown.status).toBe(404)
})

it('the Stripe sandbox creates one event destination for a repeated idempotency key, and allows a failed call to be retried', async () => {
  const { create, destinations, sandbox, receiver } = await setUp()
  await create()
  const params = {
    name: 'Ours',
    type: 'webhook_endpoint',
    event_payload: 'snapshot',
    enabled_events: ['*'],
    webhook_endpoint: { url: receiver.url },
  } as const
  const wanted = { ...params, enabled_events: ['*'] }
  const options = { idempotencyKey: 'once' }
  const first = await destinations.create(wanted, options)
  expect((await destinations.create(wanted, options)).id).toBe(first.id)
  sandbox.trouble.failNext(1, '500')
  expect(await catchStripeError(destinations.list())).toMatchObject({ statusCode: 500 })
  expect((await destinations.list()).data).toHaveLength(2)
})

it('the Stripe sandbox does not retry deliveries to a deleted event destination', async () => {
  const { sandbox, stripe, destinations, create } = await setUp()
  const receiver = await startReceiver(() => 500)
  const { id } = await create({ webhook_endpoint: { url: receiver.url } })
  await stripe.customers.create({})
  await sandbox.outbox.flush()
  await destinations.del(id)
  await sandbox.clock.advance({ days: 4 })
  expect(receiver.received).toHaveLength(1)
})

it('the Stripe sandbox responds to a wrong API key with the status 401, without an error code', async () => {
  const { sandbox } = await setUp()
  const stranger = new StripeClient('sk_test_wrong', sandbox.stripe.config)
  const { statusCode, code } = await catchStripeError(stranger.v2.core.eventDestinations.list())
  expect([statusCode, code]).toEqual([401, undefined])
})

it('the Stripe sandbox delivers a queued webhook whose URL is not registered', async () => {
  const { sandbox, receiver, flush } = await setUp()
  const outbox = sandbox.outbox as WebhookOutbox
  outbox.enqueue({
    provider: 'stripe',
    eventId: 'evt_1',
    eventType: 'customer.created',
    url: receiver.url,
    headers: {},
    body: '{}',
  })
  expect((await flush()).map(({ body }) => body)).toEqual(['{}'])
})
