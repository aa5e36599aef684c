import { describe, expect, it } from 'vitest'
import type { AnyBillingEvent, DriftReport, EventListeners, ProviderName } from '../src/index.ts'
import { dispute } from './dispute.ts'
import { hasty } from './lost-answers.ts'
import { PROVIDERS, start, stripeSdk } from './support.ts'

const TYPES = [
  'checkout.completed',
  'checkout.duplicate',
  'dispute.opened',
  'dispute.closed',
  'customer.updated',
] as const

async function listening(provider: ProviderName, types: readonly string[] = TYPES) {
  const told: AnyBillingEvent[] = []
  const listen = (event: AnyBillingEvent) => told.push(event)
  const on = Object.fromEntries(types.map((type) => [type, listen])) as EventListeners
  const test = await start(provider, { on })
  const take = async () => {
    await test.settle()
    return told.splice(0)
  }
  return { ...test, take }
}

describe.each(PROVIDERS)('what is told at $provider', (given) => {
  const { provider, card, otherCard, otherLastFour } = given

  it('is a dispute when it is opened and when it is decided, each once', async () => {
    const test = await listening(provider, ['dispute.opened', 'dispute.closed'])
    const { user } = test
    const { providerId } = await user.newSubscription('main', 'monthly').create(card)
    const decide = dispute(test, user)
    const [opened, ...more] = await test.take()
    expect(more).toEqual([])
    expect(opened).toMatchObject({
      type: 'dispute.opened',
      owner: user.owner,
      data: { dispute: { subscription: providerId, status: 'open', amount: { amount: 1000 } } },
    })
    decide('lost')
    const closed = await test.take()
    expect(closed).toMatchObject([
      { type: 'dispute.closed', data: { dispute: { status: 'lost' } } },
    ])
    await user.sync()
    expect(await test.take()).toEqual([])
  })

  it('is the customer, and the card that is billed, when our row changes', async () => {
    const test = await listening(provider, ['customer.updated'])
    const { user } = test
    await user.updateCard(card)
    const first = (await test.take()).map(({ data }) => data)
    // Both were due at once, and neither waits for the other.
    expect([...first].sort((one) => ('before' in one && one.before ? 1 : -1))).toMatchObject([
      { before: null, customer: { id: user.providerId, cardLastFour: null } },
      { before: { cardLastFour: null }, customer: { cardLastFour: expect.any(String) } },
    ])
    await user.updateCard(otherCard)
    expect(await test.take()).toMatchObject([
      { owner: user.owner, provider, data: { customer: { cardLastFour: otherLastFour } } },
    ])
    await user.sync()
    await test.advance({ days: 1 })
    expect(await test.take()).toEqual([])
  })

  it('is nothing that nobody listens to', async () => {
    const test = await listening(provider, ['checkout.completed'])
    const { user, database } = test
    await user.newSubscription('main', 'monthly').create(card)
    dispute(test, user)('lost')
    expect(await test.take()).toEqual([])
    expect(await database.kysely.selectFrom('billing_events').selectAll().execute()).toEqual([])
    expect(await user.subscribed('main')).toBe(true)
  })
})

describe.each(PROVIDERS)('a dispute whose webhook was lost at $provider', (given) => {
  const { provider, card } = given

  it.each(['suspend', 'end'] as const)(
    'is found by sync(), with its effect (%s)',
    async (access) => {
      const test = await start(provider, { disputes: { access }, webhooks: false })
      const { user, billing } = test
      await user.newSubscription('main', 'monthly').create(card)
      const decide = dispute(test, user)
      const dry = await billing.sync({ dryRun: true })
      expect(dry.drift).toMatchObject([{ what: 'dispute', was: null, is: { status: 'open' } }])
      expect(await user.subscribed('main')).toBe(true)
      expect((await billing.sync()).drift).toHaveLength(1)
      expect(await user.subscribed('main')).toBe(access === 'end')
      expect((await billing.sync()).drift).toEqual([])
      decide('lost')
      const { drift } = await user.sync()
      expect(drift).toMatchObject([
        { what: 'dispute', was: { status: 'open' }, is: { status: 'lost' } },
      ])
      expect(await user.subscribed('main')).toBe(access === 'suspend')
      expect((await billing.sync()).drift).toEqual([])
    },
  )
})

describe.each(PROVIDERS)('a dispute that was over before we knew of it at $provider', (given) => {
  const { provider, card } = given

  it.each(['won', 'lost'] as const)(
    'is written down by sync(), ends nothing and is not told (%s)',
    async (outcome) => {
      const told: AnyBillingEvent[] = []
      const keep = (event: AnyBillingEvent) => void told.push(event)
      const test = await start(provider, {
        disputes: { access: 'end' },
        webhooks: false,
        on: { 'dispute.opened': keep, 'dispute.closed': keep },
      })
      const { user, billing, database } = test
      await user.newSubscription('main', 'monthly').create(card)
      dispute(test, user)(outcome)
      await test.sandbox.clock.advance({ months: 12 })
      const wanted = [{ what: 'dispute', was: null, is: { status: outcome } }]
      const { drift, failures } = await billing.sync()
      expect(drift.filter(({ what }) => what === 'dispute')).toMatchObject(wanted)
      expect(failures).toEqual([])
      expect((await billing.sync()).drift).toEqual([])
      await billing.events.process()
      expect(await user.subscribed('main')).toBe(true)
      expect(told).toEqual([])
      const rows = database.kysely.selectFrom('billing_disputes').select('status')
      expect(await rows.execute()).toEqual([{ status: outcome }])
    },
  )
})

it('disputes that may not be read leave the rest of sync()', async () => {
  const test = await start('stripe', { webhooks: false })
  const { user, billing, sandbox } = test
  await user.newSubscription('main', 'monthly').create('pm_card_visa')
  dispute(test, user)
  const stripe = await stripeSdk(test)
  const [{ id } = { id: '' }] = sandbox.stripe.subscriptions(user.providerId ?? '')
  const item = (await stripe.subscriptions.retrieve(String(id))).items.data[0]?.id ?? ''
  const quick = hasty(test)
  let calls = 0
  const syncFailing = async (sync: () => Promise<DriftReport>) => {
    sandbox.trouble.failNext(calls, { slowMs: 0 }, 'stripe')
    sandbox.trouble.failNext(1, '500', 'stripe')
    const report = await sync().catch(() => null)
    sandbox.trouble.clear()
    return report
  }
  const problem = { owner: user.owner, error: expect.any(String) }
  await stripe.subscriptions.update(String(id), { items: [{ id: item, quantity: 2 }] })
  const one = await quick.user(user.id)
  let report: (DriftReport & { readonly complete?: boolean }) | null = null
  for (; report === null; calls++) report = await syncFailing(() => one.sync())
  expect(report).toMatchObject({ drift: [{ what: 'outdated row' }], failures: [problem] })
  // billing.sync() as well: one of its calls is for the list of disputes.
  const isAboutList = () => report?.failures.some(({ error }) => /^stripe disputes: /.test(error))
  let quantity = 2
  for (calls = 0; !isAboutList() && calls < 20; calls++) {
    quantity += 1
    await stripe.subscriptions.update(String(id), { items: [{ id: item, quantity }] })
    report = await syncFailing(() => quick.sync())
  }
  expect(report).toMatchObject({
    drift: [{ what: 'outdated row' }],
    failures: [{ owner: null }],
    complete: false,
  })
  expect((await user.subscription('main')).quantity).toBe(quantity)
  expect(await billing.sync()).toMatchObject({ drift: [], failures: [], complete: true })
  const rows = test.database.kysely.selectFrom('billing_disputes').select('status')
  expect(await rows.execute()).toEqual([{ status: 'open' }])
})

describe('a hosted page at Stripe', () => {
  const options = { name: 'main', successPath: '/done' }

  it('is told of once, with what it made', async () => {
    const test = await listening('stripe', ['checkout.completed', 'checkout.duplicate'])
    const { user, sandbox } = test
    const page = await user.checkout('monthly', options)
    expect(await test.take()).toEqual([])
    await sandbox.stripe.completeCheckout(page.id)
    const [completed, ...more] = await test.take()
    const { providerId } = await user.subscription('main')
    expect(more).toEqual([])
    expect(completed).toMatchObject({
      type: 'checkout.completed',
      data: {
        checkout: { id: page.id, mode: 'subscription', isPaid: true },
        subscription: { id: providerId, name: 'main', plan: 'monthly' },
      },
    })
    await user.completeCheckout(page.id)
    expect(await test.take()).toEqual([])
  })

  it('is told of when what it made is there twice', async () => {
    const test = await listening('stripe', ['checkout.completed', 'checkout.duplicate'])
    const { user, sandbox } = test
    await user.updateCard('pm_card_visa')
    const page = await user.checkout('monthly', options)
    const stripe = await stripeSdk(test)
    // By hand, in the control panel.
    const other = await stripe.subscriptions.create({
      customer: user.providerId ?? '',
      items: [{ price: 'pro' }],
      metadata: { name: 'main' },
    })
    await test.settle()
    await sandbox.stripe.completeCheckout(page.id)
    const told = await test.take()
    expect(told.map(({ type }) => type).sort()).toEqual([
      'checkout.completed',
      'checkout.duplicate',
    ])
    expect(told.find(({ type }) => type === 'checkout.duplicate')).toMatchObject({
      data: {
        checkout: { id: page.id },
        subscription: { plan: 'monthly' },
        other: { id: other.id, plan: 'pro' },
      },
    })
  })
})

it('counts of typed codes that are over are purged, and others stay', async () => {
  const test = await start('stripe')
  const { user, billing, database } = test
  const rows = () => database.kysely.selectFrom('billing_code_attempts').selectAll().execute()
  await user.findPromotionCode('GUESS')
  expect(await billing.purgeCodeAttempts()).toBe(0)
  expect(await rows()).toHaveLength(1)
  await test.advance({ hours: 2 })
  expect(await billing.purgeCodeAttempts()).toBe(1)
  expect(await rows()).toEqual([])
})
