import { describe, expect, it } from 'vitest'
import type { AnyBillingEvent, BillingOptions, EventListeners } from '../src/index.ts'
import { type FlowTest, PROVIDERS, start } from './support.ts'

/** Starts billing that collects the events it sends. */
async function listening(
  provider: 'stripe' | 'braintree',
  options: Partial<BillingOptions> = {},
): Promise<FlowTest & { told: AnyBillingEvent[]; types(): string[] }> {
  const told: AnyBillingEvent[] = []
  const keep = (event: AnyBillingEvent) => told.push(event)
  const on: EventListeners = {
    'subscription.created': keep,
    'subscription.changed': keep,
    'subscription.ended': keep,
  }
  const test = await start(provider, { on, ...options })
  return { ...test, told, types: () => told.map(({ type }) => type) }
}

const written = async ({ database }: FlowTest) =>
  (await database.kysely.selectFrom('billing_events').selectAll().execute()).length

describe.each(PROVIDERS)('billing events at $provider', ({ provider, card }) => {
  it('report every change of a subscription, from its creation to its end', async () => {
    const test = await listening(provider)
    const { user, told, types } = test
    await user.newSubscription('main', 'monthly').create(card)
    await test.settle()
    expect(types()).toEqual(['subscription.created'])
    const [created] = told
    const { providerId: id } = await user.subscription('main')
    expect(created).toMatchObject({
      owner: { type: 'user', id: 1 },
      provider,
      createdAt: test.sandbox.clock.now(),
      data: { subscription: { id, name: 'main', price: 'monthly', endsAt: null } },
    })
    const subscription = await user.subscription('main')
    await subscription.swap('pro')
    await test.settle()
    expect(told.at(-1)).toMatchObject({
      type: 'subscription.changed',
      data: { before: { price: 'monthly' }, subscription: { price: 'pro' } },
    })
    await (await user.subscription('main')).cancelNow()
    await test.settle()
    expect(types().filter((type) => type === 'subscription.ended')).toHaveLength(1)
    expect(new Set(told.map((event) => event.id)).size).toBe(told.length)
    await user.sync()
    await test.settle()
    expect(types().filter((type) => type === 'subscription.ended')).toHaveLength(1)
  })

  it('are not recorded without a listener for their type', async () => {
    const test = await start(provider)
    await test.user.newSubscription('main', 'monthly').create(card)
    await test.settle()
    expect(await written(test)).toBe(0)
    const other = await listening(provider, { on: { 'subscription.ended': () => undefined } })
    await other.user.newSubscription('main', 'monthly').create(card)
    expect(await written(other)).toBe(0)
  })
})

describe('billing events', () => {
  it('are delivered again if a listener throws, and become dead letters in the end', async () => {
    let calls = 0
    const on: EventListeners = {
      'subscription.created'() {
        calls++
        throw new Error('not now')
      },
    }
    const test = await listening('stripe', { on, webhookAttempts: 2 })
    const { billing, user } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await billing.process()
    expect(calls).toBe(1)
    expect(await billing.events.pending()).toMatchObject([
      { type: 'subscription.created', attempts: 1, lastError: 'Error: not now' },
    ])
    await billing.process()
    expect(calls).toBe(1)
    await test.advance({ minutes: 1 })
    expect(calls).toBe(2)
    const [dead] = await billing.events.deadLetters()
    expect(await billing.events.retry(dead?.id ?? 0)).toBe(true)
    await billing.process()
    expect(calls).toBe(3)
    await test.advance({ minutes: 1 })
    expect(await billing.events.deadLetters()).toHaveLength(1)
    await test.advance({ days: 1 })
    expect(await billing.purge({ before: test.sandbox.clock.now() })).toMatchObject({ events: 1 })
    expect(await billing.events.deadLetters()).toEqual([])
  })

  it('are delivered once if two processes deliver events', async () => {
    const told: string[] = []
    const on: EventListeners = { 'subscription.created': ({ owner }) => told.push(`${owner.id}`) }
    const test = await listening('stripe', { on })
    const other = test.another()
    const users = [test.user, await test.createUser(), await test.createUser()]
    for (const user of users) await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await Promise.all([test.billing.process(), other.process()])
    await test.settle()
    expect(told.sort()).toEqual(['1', '2', '3'])
    await test.advance({ days: 1 })
    expect(await test.billing.purge({ before: test.sandbox.clock.now() })).toMatchObject({
      events: 3,
    })
  })

  it('stay in the outbox until a process runs that has a listener for them', async () => {
    const told: string[] = []
    const tell: EventListeners = {
      'subscription.created'({ type }) {
        told.push(type)
        if (told.length === 1) throw new Error('not now')
      },
    }
    const test = await listening('stripe', { on: tell })
    const other = test.another({ on: { 'subscription.ended': () => told.push('another') } })
    const nobody = test.another({
      on: {},
      mail: { send: async () => undefined, only: [] },
      invoice: { vendor: 'Acme', product: 'Acme Pro' },
    })
    await test.user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.billing.process()
    await test.sandbox.clock.advance({ minutes: 1 })
    await nobody.process()
    await other.process()
    expect(await other.events.pending()).toMatchObject([{ type: 'subscription.created' }])
    await test.billing.process()
    expect(told).toEqual(['subscription.created', 'subscription.created'])
    expect(await other.events.pending()).toEqual([])
  })
})
