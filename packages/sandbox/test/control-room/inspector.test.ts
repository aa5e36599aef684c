import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { startReceiver } from '../receiver.ts'
import { startForTest, subscribeAda, subscribeGrace } from './support.ts'

interface Inspected {
  readonly body: string
  readonly state: string
  readonly payload: { readonly format: string; readonly text: string }
  readonly signature: { readonly value: string; readonly secret: string; readonly isRight: boolean }
  readonly attempts: ReadonlyArray<{
    status: number | null
    error: string | null
    response?: string
  }>
  readonly curl: string
}

it('the control room shows the request, signature and response of a webhook', async () => {
  const watched = await startForTest()
  const receiver = await startReceiver()
  receiver.status = 503
  const { secret } = watched.sandbox.stripe.registerWebhook(receiver.url, ['customer.created'])
  await watched.stripe.customers.create({ name: "O'Hara" })
  await watched.sandbox.outbox.flush()
  const [delivery] = watched.sandbox.outbox.deliveries()
  const path = `/webhooks/${delivery?.id}`
  const seen = await watched.read<Inspected>(`${path}.json`)
  expect(seen).toMatchObject({
    state: 'pending',
    attempts: [{ status: 503, response: 'out of order' }],
  })
  expect(seen.signature).toMatchObject({ secret, isRight: true })
  const { body, signature } = seen
  expect(() => watched.stripe.webhooks.constructEvent(body, signature.value, secret)).not.toThrow()
  expect(await watched.page(path)).toContain('out of order')

  receiver.status = 200
  expect((await watched.send('/redeliver', { id: delivery?.id ?? '', back: path })).status).toBe(
    303,
  )
  expect(await watched.read<Inspected>(`${path}.json`)).toMatchObject({ state: 'delivered' })
  expect(receiver.bodies).toEqual([body, body])
  // The curl command is valid shell, including its quotes.
  execFileSync('sh', ['-n', '-c', seen.curl])
  expect(seen.curl).toContain("O'\\''Hara")
})

it('the control room shows webhooks that are sent to event destinations', async () => {
  const watched = await startForTest()
  const receiver = await startReceiver()
  const { webhook_endpoint: made } = await watched.stripe.v2.core.eventDestinations.create({
    name: 'Ours',
    type: 'webhook_endpoint',
    event_payload: 'thin',
    enabled_events: ['v1.customer.created'],
    webhook_endpoint: { url: receiver.url },
    include: ['webhook_endpoint.signing_secret'],
  })
  const secret = made?.signing_secret
  const { endpoints } = await watched.read<{ endpoints: unknown }>('/webhooks.json')
  expect(endpoints).toMatchObject([{ url: receiver.url, secret, events: ['v1.customer.created'] }])
  await watched.stripe.customers.create({ name: 'Ada' })
  await watched.sandbox.outbox.flush()
  const [delivery] = watched.sandbox.outbox.deliveries()
  const seen = await watched.read<Inspected>(`/webhooks/${delivery?.id}.json`)
  expect(seen).toMatchObject({ state: 'delivered', signature: { secret, isRight: true } })
})

it("the control room decodes the payload of Braintree's notifications", async () => {
  const watched = await startForTest()
  const receiver = await startReceiver()
  watched.sandbox.braintree.registerWebhook(receiver.url)
  await subscribeGrace(watched)
  await watched.sandbox.clock.advance({ months: 1 })
  const [delivery] = watched.sandbox.outbox.deliveries({ provider: 'braintree' })
  const seen = await watched.read<Inspected>(`/webhooks/${delivery?.id}.json`)
  expect(seen.payload.format).toBe('xml')
  expect(seen.payload.text).toContain('<kind>subscription_charged_successfully</kind>')
  expect(seen.signature.isRight).toBe(true)
})

it('the control room shows the history of an object', async () => {
  const watched = await startForTest()
  const { subscription } = await subscribeAda(watched)
  await watched.stripe.subscriptions.update(subscription, { metadata: { order: '7' } })
  await watched.stripe.subscriptions.update(subscription, { cancel_at_period_end: true })
  const { history } = await watched.read<{
    history: Array<{
      cause: string
      changes: Array<{ path: string; before: unknown; after: unknown }>
    }>
  }>(`/objects/${subscription}.json`)
  expect(history.map(({ cause }) => cause)).toEqual([
    'customer.subscription.updated',
    'customer.subscription.updated',
    'customer.subscription.created',
  ])
  expect(history[0]?.changes).toContainEqual({
    path: 'cancel_at_period_end',
    before: false,
    after: true,
  })
  expect(history[1]?.changes).toEqual([{ path: 'metadata.order', after: '7' }])
})

it('the control room shows a deleted object, read from its events', async () => {
  const watched = await startForTest()
  const coupon = await watched.stripe.coupons.create({ percent_off: 10, duration: 'once' })
  await watched.stripe.coupons.del(coupon.id)
  expect((await fetch(`${watched.room}/objects/nothing_1`)).status).toBe(404)
  const { history } = await watched.read<{ history: Array<{ cause: string }> }>(
    `/objects/${coupon.id}.json`,
  )
  expect(history.map(({ cause }) => cause)).toEqual(['coupon.deleted', 'coupon.created'])
})
