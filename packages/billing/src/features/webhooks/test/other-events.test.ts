import { describe, expect, it } from 'vitest'
import { createImpatientBilling } from '../../../../test/lost-answers.ts'
import { PROVIDERS, start, stripeSdk } from '../../../../test/support.ts'
import type { AnyBillingEvent, DriftReport, EventListeners, ProviderName } from '../../../index.ts'
import { openDispute } from '../../disputes/test/dispute.ts'

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

describe.each(PROVIDERS)('billing events for listeners at $provider', (given) => {
  const { provider, card, otherCard, otherLastFour } = given

  it('report a dispute once when it is opened and once when it is decided', async () => {
    const test = await listening(provider, ['dispute.opened', 'dispute.closed'])
    const { user } = test
    const { providerId } = await user.newSubscription('main', 'monthly').create(card)
    const decide = openDispute(test, user)
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

  it('report the customer and the default card when they change in our row', async () => {
    const test = await listening(provider, ['customer.updated'])
    const { user } = test
    await user.updateCard(card)
    const first = (await test.take()).map(({ data }) => data)
    // Both were due at the same time, and are delivered in either order.
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

  it('are not recorded without a listener', async () => {
    const test = await listening(provider, ['checkout.completed'])
    const { user, database } = test
    await user.newSubscription('main', 'monthly').create(card)
    openDispute(test, user)('lost')
    expect(await test.take()).toEqual([])
    expect(await database.kysely.selectFrom('billing_events').selectAll().execute()).toEqual([])
    expect(await user.subscribed('main')).toBe(true)
  })
})

describe.each(PROVIDERS)('a dispute whose webhook was lost at $provider', (given) => {
  const { provider, card } = given

  it.each(['suspend', 'end'] as const)(
    'is found by sync(), which then applies its effect on access (disputes.access: %s)',
    async (access) => {
      const test = await start(provider, { disputes: { access }, webhooks: false })
      const { user, billing } = test
      await user.newSubscription('main', 'monthly').create(card)
      const decide = openDispute(test, user)
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

describe.each(PROVIDERS)(
  'a dispute at $provider that was decided before its first webhook',
  (given) => {
    const { provider, card } = given

    it.each(['won', 'lost'] as const)(
      'is recorded by sync(), but ends no subscription and causes no event (decision: %s)',
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
        openDispute(test, user)(outcome)
        await test.sandbox.clock.advance({ months: 12 })
        const wanted = [{ what: 'dispute', was: null, is: { status: outcome } }]
        const { drift, failures } = await billing.sync()
        expect(drift.filter(({ what }) => what === 'dispute')).toMatchObject(wanted)
        expect(failures).toEqual([])
        expect((await billing.sync()).drift).toEqual([])
        await billing.process()
        expect(await user.subscribed('main')).toBe(true)
        expect(told).toEqual([])
        const rows = database.kysely.selectFrom('billing_disputes').select('status')
        expect(await rows.execute()).toEqual([{ status: outcome }])
      },
    )
  },
)

it('sync() continues if the provider’s disputes cannot be read', async () => {
  const test = await start('stripe', { webhooks: false })
  const { user, billing, sandbox } = test
  await user.newSubscription('main', 'monthly').create('pm_card_visa')
  openDispute(test, user)
  const stripe = await stripeSdk(test)
  const [{ id } = { id: '' }] = sandbox.stripe.subscriptions(user.providerId ?? '')
  const item = (await stripe.subscriptions.retrieve(String(id))).items.data[0]?.id ?? ''
  const quick = createImpatientBilling(test)
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
  // The same for billing.sync(), where one request reads the list of disputes.
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

describe('the events of a hosted page at Stripe', () => {
  const options = { name: 'main', successPath: '/done' }

  it('report once that the page was completed, and contain the subscription', async () => {
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
        subscription: { id: providerId, name: 'main', price: 'monthly' },
      },
    })
    await user.completeCheckout(page.id)
    expect(await test.take()).toEqual([])
  })

  it('report a duplicate if the page created a second subscription with the same name', async () => {
    const test = await listening('stripe', ['checkout.completed', 'checkout.duplicate'])
    const { user, sandbox } = test
    await user.updateCard('pm_card_visa')
    const page = await user.checkout('monthly', options)
    const stripe = await stripeSdk(test)
    // Created by hand in the dashboard.
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
        subscription: { price: 'monthly' },
        other: { id: other.id, price: 'pro' },
      },
    })
  })
})

it('purge() deletes expired counters of attempts to use promotion codes, and keeps current ones', async () => {
  const test = await start('stripe')
  const { user, billing, database } = test
  const rows = () => database.kysely.selectFrom('billing_code_attempts').selectAll().execute()
  await user.findPromotionCode('GUESS')
  expect(await billing.purge()).toMatchObject({ codeAttempts: 0 })
  expect(await rows()).toHaveLength(1)
  await test.advance({ hours: 2 })
  expect(await billing.purge()).toMatchObject({ codeAttempts: 1 })
  expect(await rows()).toEqual([])
})
