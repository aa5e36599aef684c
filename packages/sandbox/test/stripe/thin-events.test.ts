import type { Stripe } from 'stripe'
import { expect, it } from 'vitest'
import { startReceiver } from './receiver.ts'
import { catchStripeError, startStripeSandbox } from './support.ts'

/** Starts an account whose every event has a thin event. */
async function setUp() {
  const { sandbox, stripe } = await startStripeSandbox()
  const { url } = await startReceiver()
  await stripe.v2.core.eventDestinations.create({
    name: 'All',
    type: 'webhook_endpoint',
    event_payload: 'thin',
    enabled_events: ['*'],
    webhook_endpoint: { url },
  })
  const list = async (params: Stripe.V2.Core.EventListParams = {}) => {
    const found: Stripe.V2.Core.Event[] = []
    for await (const event of stripe.v2.core.events.list(params)) found.push(event)
    return found
  }
  return { sandbox, stripe, list }
}

it('the Stripe sandbox lists thin events newest first, page by page, while others are created', async () => {
  const { stripe, list } = await setUp()
  for (let n = 0; n < 7; n++) await stripe.customers.create({ name: `${n}` })
  const all = await list()
  expect(all).toHaveLength(7)
  expect(all[0]).toMatchObject({
    id: expect.stringMatching(/^evt_test_/),
    object: 'v2.core.event',
    type: 'v1.customer.created',
    livemode: false,
    created: '2026-01-31T10:00:00.000Z',
    related_object: { type: 'customer' },
    reason: { type: 'request', request: { id: expect.stringMatching(/^req_/) } },
  })
  const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id)
  expect(idsOf(await list({ limit: 2 }))).toEqual(idsOf(all))
  const first = await stripe.v2.core.events.list({ limit: 3 })
  expect(first.previous_page_url).toBeNull()
  await stripe.customers.create()
  const next = (path: string | null | undefined) =>
    stripe.rawRequest('GET', path ?? '') as unknown as Promise<typeof first>
  const second = await next(first.next_page_url)
  expect(idsOf(second.data)).toEqual(idsOf(all.slice(3, 6)))
  const third = await next(second.next_page_url)
  expect(idsOf(third.data)).toEqual(idsOf(all.slice(6)))
  expect(third.next_page_url).toBeNull()
  const back = await next(second.previous_page_url)
  expect(idsOf(back.data)).toEqual(idsOf(all.slice(0, 3)))
  expect((await next(back.previous_page_url)).data).toHaveLength(1)
})

it('the Stripe sandbox filters thin events by object, type and time, on every page', async () => {
  const { sandbox, stripe, list } = await setUp()
  const { id } = await stripe.customers.create()
  await stripe.customers.update(id, { name: 'Ada' })
  await sandbox.clock.advance({ days: 1 })
  await stripe.customers.update(id, { name: 'Bob' })
  await stripe.products.create({ name: 'Gold' })
  const typesOf = async (params: Stripe.V2.Core.EventListParams) =>
    (await list({ limit: 1, ...params })).map(({ type }) => type)
  const updated = 'v1.customer.updated'
  const created = 'v1.customer.created'
  expect(await typesOf({ object_id: id })).toEqual([updated, updated, created])
  expect(await typesOf({ types: [created, 'v1.product.created'] })).toEqual([
    'v1.product.created',
    created,
  ])
  const second = Math.floor(sandbox.clock.now().getTime() / 1000)
  expect(await typesOf({ object_id: id, created: { gte: second } })).toEqual([updated])
  // The types of other SDKs declare ISO 8601.
  const iso = sandbox.clock.now().toISOString() as unknown as number
  expect(await typesOf({ created: { lt: iso }, types: [updated] })).toEqual([updated])
  expect(await typesOf({ object_id: 'cus_other' })).toEqual([])
  const path = `/v2/core/events?types=${updated}&types=${created}&limit=1`
  const { next_page_url: more } = (await stripe.rawRequest('GET', path)) as unknown as {
    next_page_url: string
  }
  expect(decodeURIComponent(more)).toContain(`types[0]=${updated}&types[1]=${created}`)
})

it('the Stripe sandbox removes thin events after 30 days', async () => {
  const { sandbox, stripe, list } = await setUp()
  await stripe.customers.create()
  const [event] = await list()
  await sandbox.clock.advance({ days: 31 })
  expect(await list()).toEqual([])
  const gone = stripe.v2.core.events.retrieve(event?.id ?? '')
  expect(await catchStripeError(gone)).toMatchObject({ statusCode: 404, code: 'not_found' })
})

it.each<[string, Stripe.V2.Core.EventListParams]>([
  ['limit', { limit: 0 }],
  ['limit', { limit: 101 }],
  ['types', { types: Array.from({ length: 21 }, (_, n) => `v1.type_${n}`) }],
  ['created[gt]', { created: { gt: 'yesterday' as unknown as number } }],
  ['page', { page: 'bm9uZQ' } as object],
  ['type', { type: 'v1.customer.created' } as object],
])(
  'the Stripe sandbox rejects a request to list thin events with an invalid %s',
  async (param, params) => {
    const { stripe } = await startStripeSandbox()
    expect(await catchStripeError(stripe.v2.core.events.list(params))).toMatchObject({
      type: 'StripeInvalidRequestError',
      statusCode: 400,
      code: 'invalid_fields',
      param,
    })
  },
)
