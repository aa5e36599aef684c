import { expect, it } from 'vitest'
import { ACACIA, BASIL, PINNED, startVersions, type UntypedResponse } from './old-versions.ts'
import { seconds, seedCustomer, seedPrices } from './support.ts'

interface SentEvent {
  readonly id: string
  readonly type: string
  readonly api_version: string
  readonly data: { readonly object: UntypedResponse; readonly previous_attributes?: object }
}

type Setup = Awaited<ReturnType<typeof startVersions>>

/** Returns the webhooks sent to an endpoint, delivered or not. */
function eventsSentTo({ sandbox }: Setup, url: string): SentEvent[] {
  const sent = sandbox.outbox.deliveries().filter((delivery) => delivery.url === url)
  return sent.map(({ body }) => JSON.parse(body) as SentEvent)
}

async function register({ stripe }: Setup, name: string, version: string | null) {
  const url = `http://127.0.0.1:9/${name}`
  await stripe.webhookEndpoints.create({
    url,
    enabled_events: ['*'],
    ...(version === null ? {} : { api_version: version as typeof PINNED }),
  })
  return url
}

it("the Stripe sandbox sends each endpoint an event in the endpoint's version", async () => {
  const setup = await startVersions()
  const { stripe, sandbox } = setup
  const old = await register(setup, 'old', ACACIA)
  const pinned = await register(setup, 'pinned', null)
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const coupon = await stripe.coupons.create({ percent_off: 10, duration: 'forever' })
  await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    discounts: [{ coupon: coupon.id }],
  })
  await sandbox.outbox.flush()
  const [before, now] = [eventsSentTo(setup, old), eventsSentTo(setup, pinned)]
  expect(before.map(({ id }) => id)).toEqual(now.map(({ id }) => id))
  expect(new Set(before.map((event) => event.api_version))).toEqual(new Set([ACACIA]))
  expect(new Set(now.map((event) => event.api_version))).toEqual(new Set([PINNED]))
  const of = (events: readonly SentEvent[], type: string) =>
    events.find((event) => event.type === type)?.data.object
  const period = { current_period_end: seconds('2026-02-28T10:00:00Z') }
  expect(of(before, 'customer.subscription.created')).toMatchObject(period)
  expect(of(now, 'customer.subscription.created')).toMatchObject({ items: { data: [period] } })
  expect(of(before, 'invoice.paid')).toMatchObject({
    paid: true,
    payment_intent: expect.stringMatching(/^pi_/),
    discount: { coupon: { id: coupon.id } },
  })
  expect(of(now, 'invoice.paid')).not.toHaveProperty('payment_intent')
  expect(of(before, 'customer.discount.created')).toMatchObject({ coupon: { percent_off: 10 } })
  expect(of(now, 'customer.discount.created')).toMatchObject({ source: { coupon: coupon.id } })
})

it("the Stripe sandbox sends previous_attributes in the endpoint's version", async () => {
  const setup = await startVersions()
  const { stripe, sandbox } = setup
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const old = await register(setup, 'old', ACACIA)
  await sandbox.clock.advance({ months: 1, hours: 1 })
  const told = eventsSentTo(setup, old)
  const renewed = told.find(({ type }) => type === 'customer.subscription.updated')
  expect(renewed?.data.previous_attributes).toEqual({
    latest_invoice: subscription.latest_invoice,
    current_period_start: seconds('2026-01-31T10:00:00Z'),
    current_period_end: seconds('2026-02-28T10:00:00Z'),
  })
  await stripe.subscriptions.update(subscription.id, {
    items: [{ id: subscription.items.data[0]?.id ?? '', quantity: 2 }],
  })
  const changed = eventsSentTo(setup, old)
    .filter(({ type }) => type === 'customer.subscription.updated')
    .at(-1)
  expect(changed?.data.previous_attributes).toMatchObject({ items: { data: [{ quantity: 1 }] } })
  expect(changed?.data.previous_attributes).not.toHaveProperty('current_period_end')
  expect(changed?.data.previous_attributes).not.toHaveProperty('items.data[0].current_period_end')
})

it("the Stripe sandbox keeps events in the account's version, whatever version reads them", async () => {
  const setup = await startVersions({ stripe: { apiVersion: BASIL } })
  const { stripe, sandbox, call } = setup
  const follows = await register(setup, 'account', null)
  sandbox.stripe.registerWebhook('http://127.0.0.1:9/handle', ['*'])
  const coupon = await stripe.coupons.create({ percent_off: 10, duration: 'once' })
  await stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: coupon.id } })
  const expected = [{ api_version: BASIL, data: { object: { coupon: { id: coupon.id } } } }]
  for (const version of [PINNED, BASIL, null]) {
    const listed = await call(version, '/events?type=promotion_code.created')
    expect(listed.data).toMatchObject(expected)
  }
  const [event] = sandbox.stripe.events('promotion_code.created')
  expect(event).toMatchObject(expected[0] ?? {})
  const sent = (url: string) =>
    eventsSentTo(setup, url).filter(({ type }) => type === 'promotion_code.created')
  expect(sent(follows)).toMatchObject(expected)
  expect(sent('http://127.0.0.1:9/handle')).toMatchObject(expected)
})

it('the Stripe sandbox rejects an endpoint with a version that Stripe never released', async () => {
  const { send } = await startVersions()
  const { status, body } = await send(PINNED, '/webhook_endpoints', {
    url: 'https://shop.example/hooks',
    'enabled_events[]': '*',
    api_version: '2025-08-28.basil',
  })
  expect(status).toBe(400)
  expect(body.error).toMatchObject({ param: 'api_version' })
})
