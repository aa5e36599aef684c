import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { type Received, startReceiver } from './receiver.ts'
import { seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

function typesOf(received: readonly Received[]): string[] {
  return received.map((one) => (JSON.parse(one.body) as Stripe.Event).type)
}

it('the Stripe sandbox delivers events of the requested types only, with signatures that the SDK accepts', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const receiver = await startReceiver()
  const endpoint = await stripe.webhookEndpoints.create({
    url: receiver.url,
    enabled_events: ['customer.created', 'invoice.paid'],
    api_version: '2026-10-28.endive',
  })
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
  await sandbox.outbox.flush()
  expect(typesOf(receiver.received)).toEqual(['customer.created', 'invoice.paid'])
  const now = Math.floor(sandbox.clock.nowMs() / 1000)
  for (const { body, signature } of receiver.received) {
    const event = stripe.webhooks.constructEvent(body, signature, endpoint.secret ?? '')
    expect(event).toMatchObject({
      object: 'event',
      livemode: false,
      created: now,
      api_version: '2026-10-28.endive',
    })
    expect(event.request?.idempotency_key).toMatch(/^stripe-node-retry-/)
    expect(() => stripe.webhooks.constructEvent(body, signature, 'whsec_other')).toThrow()
    expect((await stripe.events.retrieve(event.id)).pending_webhooks).toBe(0)
  }
})

it('the Stripe sandbox waits for webhook deliveries when the clock moves, and includes previous_attributes in events', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  const receiver = await startReceiver()
  sandbox.stripe.registerWebhook(receiver.url, ['customer.subscription.updated', 'invoice.paid'])
  await sandbox.clock.advance({ months: 1, hours: 1 })
  expect(typesOf(receiver.received)).toEqual(['customer.subscription.updated', 'invoice.paid'])
  const update = JSON.parse(receiver.received[0]?.body ?? '{}') as Stripe.Event
  expect(update.data.previous_attributes).toEqual({
    latest_invoice: subscription.latest_invoice,
    items: {
      data: [
        expect.objectContaining({
          current_period_end: subscription.items.data[0]?.current_period_end,
        }),
      ],
    },
  })
})

it("the Stripe sandbox retries a webhook by the sandbox's clock with a fresh signature until it is accepted", async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  let failures = 3
  const receiver = await startReceiver(() => (failures-- > 0 ? 500 : 200))
  const { secret } = sandbox.stripe.registerWebhook(receiver.url, ['customer.created'])
  await stripe.customers.create({})
  await sandbox.outbox.flush()
  expect(sandbox.outbox.deliveries()[0]).toMatchObject({
    state: 'pending',
    attempts: [{ status: 500 }],
  })
  expect((await stripe.events.list({ delivery_success: false })).data).toHaveLength(1)
  await sandbox.clock.advance({ days: 1 })
  const [delivery] = sandbox.outbox.deliveries()
  expect(delivery).toMatchObject({ state: 'delivered' })
  expect(
    delivery?.attempts.map((attempt) => [
      attempt.status,
      attempt.at - (delivery.attempts[0]?.at ?? 0),
    ]),
  ).toEqual([
    [500, 0],
    [500, 300_000],
    [500, 2_100_000],
    [200, 9_300_000],
  ])
  const last = receiver.received[3]
  expect(stripe.webhooks.constructEvent(last?.body ?? '', last?.signature ?? '', secret).type).toBe(
    'customer.created',
  )
})

it.each([10, -10, 365 * 1440, -365 * 1440])(
  "the Stripe sandbox signs webhooks with the real time if the sandbox's clock is %i minutes off",
  async (minutes) => {
    const now = new Date(Date.now() + minutes * 60_000)
    const { sandbox, stripe } = await startStripeSandbox({ now })
    const receiver = await startReceiver()
    const { secret } = sandbox.stripe.registerWebhook(receiver.url, ['customer.created'])
    const verified = () => {
      const { body, signature } = receiver.received.at(-1) ?? { body: '', signature: '' }
      return stripe.webhooks.constructEvent(body, signature, secret)
    }
    await stripe.customers.create({})
    await sandbox.outbox.flush()
    expect(verified().created).toBe(Math.floor(now.getTime() / 1000))
    await sandbox.clock.advance({ minutes: 10 })
    await stripe.customers.create({})
    await sandbox.outbox.flush()
    expect(verified().created).toBe(Math.floor(now.getTime() / 1000) + 600)
    // The SDK rejects only old signatures, so one from the future is checked here.
    const times = receiver.received.map(({ signature }) => Number(/^t=(\d+),/.exec(signature)?.[1]))
    for (const time of times) expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(300)
  },
)

it('the Stripe sandbox stops retrying a webhook after three days', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const receiver = await startReceiver(() => 500)
  sandbox.stripe.registerWebhook(receiver.url, ['customer.created'])
  await stripe.customers.create({})
  await sandbox.clock.advance({ days: 4 })
  expect(sandbox.outbox.deliveries()[0]?.state).toBe('failed')
  const attempts = receiver.received.length
  await sandbox.clock.advance({ days: 30 })
  expect(receiver.received.length).toBe(attempts)
})

it('the Stripe sandbox can duplicate, drop, delay, reorder and corrupt webhooks', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const seen = new Set<string>()
  const receiver = await startReceiver()
  const { secret } = sandbox.stripe.registerWebhook(receiver.url, [
    'customer.created',
    'customer.updated',
    'payment_method.attached',
  ])
  const take = () => receiver.received.splice(0)
  sandbox.outbox.set({ duplicate: 1 })
  await stripe.customers.create({})
  await sandbox.outbox.flush()
  const twice = take().map((one) => (JSON.parse(one.body) as Stripe.Event).id)
  expect(twice).toHaveLength(2)
  expect(new Set([...twice, ...seen]).size).toBe(1)

  sandbox.outbox.set({ drop: true })
  await stripe.customers.create({})
  await sandbox.outbox.flush()
  expect(take()).toEqual([])
  expect(sandbox.outbox.deliveries().at(-1)?.state).toBe('dropped')

  sandbox.outbox.set({ drop: false, delaySeconds: 600 })
  await stripe.customers.create({})
  await sandbox.clock.advance({ seconds: 599 })
  expect(take()).toEqual([])
  await sandbox.clock.advance({ seconds: 1 })
  expect(take()).toHaveLength(1)

  sandbox.outbox.set({ delaySeconds: 0, reorder: true })
  await stripe.customers.create({ payment_method: 'pm_card_visa' })
  await sandbox.outbox.flush()
  expect(typesOf(take())).toEqual(['customer.created', 'payment_method.attached'])

  sandbox.outbox.set({ reorder: false, corrupt: 1 })
  await stripe.customers.create({})
  await sandbox.outbox.flush()
  const [broken] = take()
  expect(() =>
    stripe.webhooks.constructEvent(broken?.body ?? '', broken?.signature ?? '', secret, 0),
  ).toThrow()
})

it('the Stripe sandbox stores events for 30 days', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({})
  const [event] = (await stripe.events.list({ type: 'customer.created' })).data
  await sandbox.clock.advance({ days: 31 })
  await stripe.customers.update(customer.id, { name: 'Later' })
  expect((await stripe.events.list()).data.map((each) => each.type)).toEqual(['customer.updated'])
  await expect(stripe.events.retrieve(event?.id ?? '')).rejects.toMatchObject({ statusCode: 404 })
})

it.each([
  ['deleted', true],
  ['switched off', false],
] as const)(
  'the Stripe sandbox stops retrying a webhook for an endpoint that was %s in the meantime',
  async (_how, isDeleted) => {
    const { sandbox, stripe } = await startStripeSandbox()
    const receiver = await startReceiver(() => 500)
    const { id } = await stripe.webhookEndpoints.create({
      url: receiver.url,
      enabled_events: ['customer.created'],
    })
    await stripe.customers.create({})
    await sandbox.outbox.flush()
    expect(receiver.received).toHaveLength(1)
    if (isDeleted) await stripe.webhookEndpoints.del(id)
    else await stripe.webhookEndpoints.update(id, { disabled: true })
    await sandbox.clock.advance({ days: 4 })
    expect(receiver.received).toHaveLength(1)
    expect(sandbox.outbox.deliveries()).toMatchObject([{ state: 'failed', dueAt: null }])
  },
)

it('the Stripe sandbox keeps retrying for an endpoint that was disabled and enabled before the next attempt', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  let failures = 1
  const receiver = await startReceiver(() => (failures-- > 0 ? 500 : 200))
  const { id } = await stripe.webhookEndpoints.create({
    url: receiver.url,
    enabled_events: ['customer.created'],
  })
  await stripe.customers.create({})
  await sandbox.outbox.flush()
  await stripe.webhookEndpoints.update(id, { disabled: true })
  await stripe.webhookEndpoints.update(id, { disabled: false })
  await sandbox.clock.advance({ hours: 1 })
  expect(sandbox.outbox.deliveries()).toMatchObject([{ state: 'delivered' }])
})
