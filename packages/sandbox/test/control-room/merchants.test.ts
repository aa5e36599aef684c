import { describe, expect, it } from 'vitest'
import { SHOP, startForTest, subscribeAtShop, subscribeGrace } from './support.ts'

interface Version {
  readonly at: string
  readonly cause: string
  readonly changes: ReadonlyArray<{ path: string; before?: unknown; after?: unknown }>
  readonly isEnd: boolean
}

interface ObjectData {
  readonly found: { readonly merchant: string | null; readonly kind: string } | null
  readonly history: readonly Version[]
  readonly last: object | null
}

const told = ({ cause, changes }: Version) =>
  [cause, ...changes.map(({ path, before, after }) => `${path}: ${before} → ${after}`)].join('\n')

describe('the history of a Braintree object in the control room', () => {
  it('shows what each call and each scheduled job changed', async () => {
    const watched = await startForTest()
    const { subscription } = await subscribeGrace(watched)
    await watched.gateway.subscription.update(subscription, { price: '9.00' })
    await watched.gateway.subscription.update(subscription, { price: '9.00' })
    await watched.sandbox.clock.advance({ months: 1 })
    await watched.gateway.subscription.cancel(subscription)
    const { history } = await watched.read<ObjectData>(`/objects/${subscription}.json`)
    const [canceled = '', billed = '', changed = '', created] = history.map(told)
    expect(history).toHaveLength(4)
    expect(created).toBe('POST /subscriptions')
    expect(changed).toBe(`PUT /subscriptions/${subscription}\nprice: 700 → 900`)
    expect(billed).toMatch(/^billing fell due\n/)
    expect(billed).toContain('currentBillingCycle: 1 → 2')
    expect(canceled.split('\n').slice(0, 2)).toEqual([
      `PUT /subscriptions/${subscription}/cancel`,
      'status: Active → Canceled',
    ])
  })

  it('is still shown after the object is deleted', async () => {
    const watched = await startForTest()
    const { token } = await subscribeGrace(watched)
    await watched.gateway.paymentMethod.delete(token)
    const { found, history, last } = await watched.read<ObjectData>(`/objects/${token}.json`)
    expect(found).toBeNull()
    expect(last).toMatchObject({ token, customerId: 'grace' })
    expect(history.map(({ isEnd }) => isEnd)).toEqual([true, false])
    expect(await watched.page(`/objects/${token}`)).toContain('deleted')
    const { past } = await watched.read<{ past: Array<{ title: string }> }>(
      '/customers/braintree/grace.json',
    )
    const titles = past.map(({ title }) => title).filter((title) => title.includes('method'))
    expect(titles).toEqual(['Payment method removed', 'Payment method added'])
  })

  it('includes changes by the control panel, and survives a restart from the state file', async () => {
    const watched = await startForTest()
    const { token } = await subscribeGrace(watched)
    watched.sandbox.braintree.failCharges(token, '2001')
    const before = await watched.read<ObjectData>(`/objects/${token}.json`)
    expect(before.history.map(told)[0]).toBe('the control panel\nalwaysFailsWith: null → 2001')
    const state = watched.sandbox.snapshot()
    await watched.sandbox.reset()
    watched.sandbox.restore(state)
    expect(await watched.read<ObjectData>(`/objects/${token}.json`)).toEqual(before)
  })
})

describe('several Braintree merchants in the control room', () => {
  it('have separate customers, even if two customers have the same id', async () => {
    const watched = await startForTest({ braintree: { merchants: [SHOP] } })
    await subscribeGrace(watched)
    const { subscription } = await subscribeAtShop(watched)
    const { customers } = await watched.read<{ customers: object[] }>('/customers.json')
    expect(customers).toMatchObject([
      { merchant: 'sandbox_merchant', id: 'grace', name: 'Grace Hopper' },
      { merchant: 'shop', id: 'grace', name: 'Grace at the shop' },
    ])
    const only = await watched.read<{ customers: object[] }>('/customers.json?at=braintree.shop')
    expect(only.customers).toMatchObject([{ name: 'Grace at the shop' }])

    const path = '/customers/braintree.shop/grace.json?months=1'
    const seen = await watched.read<{
      coming: { paid: Array<{ text: string }> }
      past: Array<{ merchant: string; title: string; amount: { text: string } | null }>
    }>(path)
    expect(seen.coming.paid).toMatchObject([{ text: '$3.00' }])
    expect(seen.past).toContainEqual(
      expect.objectContaining({ merchant: 'shop', title: 'Payment submitted for settlement' }),
    )
    const first = await watched.read<typeof seen>('/customers/braintree/grace.json?months=1')
    expect(first.coming.paid).toMatchObject([{ text: '$7.00' }])
    expect((await fetch(`${watched.room}/customers/braintree.other/grace`)).status).toBe(404)

    const object = await watched.read<ObjectData>(`/objects/${subscription}.json?merchant=shop`)
    expect(object.found).toMatchObject({ merchant: 'shop', kind: 'subscriptions' })
    expect(object.history.map(({ cause }) => cause)).toEqual(['POST /subscriptions'])
  })

  it('are shown on the pages with their keys and counts', async () => {
    const watched = await startForTest({ braintree: { merchants: [SHOP] } })
    await subscribeGrace(watched)
    await subscribeAtShop(watched)
    const overview = await watched.page('/')
    expect(overview).toContain('BRAINTREE_MERCHANT_ID=shop')
    const { counts, lately } = await watched.read<{
      counts: { customers: number; running: number }
      lately: Array<{ merchant: string }>
    }>('/index.json')
    expect(counts).toMatchObject({ customers: 2, running: 2 })
    expect(new Set(lately.map(({ merchant }) => merchant))).toEqual(
      new Set(['sandbox_merchant', 'shop']),
    )
    expect(await watched.page('/customers')).toContain('Braintree · shop')
    const state = await watched.read<{ braintree: { merchants: Record<string, object> } }>(
      '/state.json',
    )
    expect(state.braintree.merchants.shop).toMatchObject({ customers: [{ id: 'grace' }] })
  })

  it('sign their notifications with their own keys', async () => {
    const watched = await startForTest({ braintree: { merchants: [SHOP] } })
    watched.sandbox.braintree.merchant('shop').registerWebhook('http://127.0.0.1:9/shop')
    await subscribeAtShop(watched)
    const [delivery] = watched.sandbox.outbox.deliveries({ provider: 'braintree' })
    const { signature } = await watched.read<{ signature: object }>(
      `/webhooks/${delivery?.id}.json`,
    )
    expect(signature).toMatchObject({ secret: 'shop_private', isRight: true })
  })
})

it("the control room's timeline shows the Braintree notifications of each step", async () => {
  const watched = await startForTest()
  watched.sandbox.braintree.registerWebhook('http://127.0.0.1:9/braintree')
  const { customer } = await subscribeGrace(watched)
  await watched.gateway.customer.create({ id: 'somebody' })
  await watched.sandbox.clock.advance({ months: 1 })
  interface Sent {
    readonly title: string
    readonly deliveries: ReadonlyArray<{ readonly id: string }>
  }
  const path = `/customers/braintree/${customer}.json`
  const { past } = await watched.read<{ past: readonly Sent[] }>(path)
  const kinds = new Map(
    watched.sandbox.outbox.deliveries({ provider: 'braintree' }).map((each) => [each.id, each]),
  )
  const sent = past.flatMap(({ title, deliveries }) =>
    deliveries.map(({ id }) => `${title}: ${kinds.get(id)?.eventType}`),
  )
  expect(sent).toEqual([
    'Payment submitted for settlement: subscription_charged_successfully',
    'Subscription started: subscription_went_active',
    'Payment submitted for settlement: subscription_charged_successfully',
  ])
})

it("the control room's timeline shows changes of a Braintree subscription's plan and price", async () => {
  const watched = await startForTest()
  const { customer, subscription } = await subscribeGrace(watched)
  watched.sandbox.braintree.definePlan({ id: 'gold', price: 2000 })
  await watched.gateway.subscription.update(subscription, { planId: 'gold', price: '20.00' })
  const { past } = await watched.read<{ past: Array<{ title: string; notes: string[] }> }>(
    `/customers/braintree/${customer}.json`,
  )
  const changed = past.find(({ title }) => title === 'Subscription changed')
  expect(changed?.notes).toEqual(['Plan: silver → gold', 'Price: $7.00 → $20.00'])
})
