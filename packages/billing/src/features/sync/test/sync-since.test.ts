import { describe, expect, it, onTestFinished } from 'vitest'
import { type FlowTest, PROVIDERS, start, stripeSdk } from '../../../../test/support.ts'
import { type BillableUser, createBilling, InvalidArgument } from '../../../index.ts'
import { stripeProvider } from '../../../stripe-provider.ts'
import { corruptRow, countProviderRequests, startWithSubscribers } from './sync-support.ts'

describe.each(PROVIDERS)('sync() at $provider', ({ provider }) => {
  it("finds a row whose subscription is in none of the provider's lists, without reading all the others", async () => {
    const { ids, ...test } = await startWithSubscribers(provider, 12)
    const { billing, database } = test
    await database.kysely
      .updateTable('subscriptions')
      .set({ provider_id: 'gone' })
      .where('user_id', '=', ids[5])
      .execute()
    const report = await billing.sync()
    expect(report.drift).toMatchObject([{ owner: { id: ids[5] }, what: 'missing row' }])
    expect(report.users).toBe(12)
  })

  it('compares everything despite the `since` option if the provider does not list changes', async () => {
    const { ids, ...test } = await startWithSubscribers(provider, 3)
    const { billing, sandbox } = test
    await sandbox.clock.advance({ days: 2 })
    const since = sandbox.clock.now()
    await corruptRow(test, Number(ids[1]))
    const { users, drift } = await billing.sync({ since })
    // Nothing changed at Stripe, which lists changes; Braintree does not.
    const wanted = { stripe: [0, []], braintree: [3, [ids[1]]] }
    expect([users, drift.map(({ owner }) => owner.id)]).toEqual(wanted[provider as 'stripe'])
  })
})

describe('sync({ since }) at Stripe', () => {
  async function elsewhere(test: FlowTest, user: BillableUser, quantity: number): Promise<void> {
    const { subscriptions } = await stripeSdk(test)
    const { providerId } = await user.subscription('main')
    const item = (await subscriptions.retrieve(providerId)).items.data[0]?.id ?? ''
    await subscriptions.update(providerId, { items: [{ id: item, quantity }] })
  }

  it('compares the objects that changed at Stripe since that time, and reads only the users that differ', async () => {
    const { ids, ...test } = await startWithSubscribers('stripe', 12)
    const { billing, sandbox } = test
    await sandbox.clock.advance({ days: 3 })
    const since = sandbox.clock.now()
    await sandbox.clock.advance({ hours: 1 })
    const user = await billing.user(Number(ids[7]))
    for (const quantity of [2, 3, 4]) await elsewhere(test, user, quantity)
    const other = await billing.user(Number(ids[8]))
    await other.updateCard('pm_card_mastercard')
    let report: Awaited<ReturnType<typeof billing.sync>> | null = null
    const calls = await countProviderRequests(test, async () => {
      report = await billing.sync({ since })
    })
    expect(report).toMatchObject({
      users: 2,
      drift: [{ owner: user.owner, what: 'outdated row' }],
      complete: true,
    })
    // One page of events, one of disputes, and two users.
    expect(calls).toBeLessThanOrEqual(1 + 2 * 5)
    expect(await billing.sync({ since: sandbox.clock.now() })).toMatchObject({ drift: [] })
    expect((await billing.sync()).drift).toEqual([])
  })

  it('finds a new dispute and a changed card', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, billing, sandbox } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await sandbox.clock.advance({ days: 1 })
    const since = sandbox.clock.now()
    const [charge] = sandbox.stripe.charges(user.providerId ?? '')
    sandbox.stripe.disputeCharge(String(charge?.id))
    const { customers, paymentMethods } = await stripeSdk(test)
    const customer = user.providerId ?? ''
    const { id } = await paymentMethods.attach('pm_card_mastercard', { customer })
    await customers.update(customer, { invoice_settings: { default_payment_method: id } })
    const { drift } = await billing.sync({ since })
    expect(drift.map(({ what }) => what).sort()).toEqual(['card', 'dispute'])
    expect((await billing.sync({ since })).drift).toEqual([])
  })

  it('compares everything if since is so long ago that Stripe no longer lists the changes', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, billing, sandbox } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const since = sandbox.clock.now()
    await sandbox.clock.advance({ days: 40 })
    const { drift } = await billing.sync({ since, dryRun: true })
    expect(drift).toEqual([])
    await corruptRow(test, Number(user.id))
    expect((await billing.sync({ since })).drift).toMatchObject([{ what: 'outdated row' }])
  })

  it('can be resumed later to compare a provider that was unavailable', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, billing, database, sandbox } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await corruptRow(test, Number(user.id))
    const { apiKey, config } = sandbox.stripe
    const stripe = stripeProvider({ secret: apiKey, webhookSecret: 'whsec_unused', config })
    const connect = () => Promise.reject(new Error('away'))
    const users = { table: 'users' }
    const others = { database, users, clock: sandbox.clock, processEvery: false } as const
    const away = createBilling({ ...others, providers: [{ ...stripe, connect }] })
    onTestFinished(() => away.close())
    expect(await away.sync()).toMatchObject({
      ...{ drift: [], complete: false },
      failures: [{ owner: null, error: 'stripe: away' }],
    })
    expect((await away.sync({ resume: true })).complete).toBe(false)
    expect(await billing.sync({ resume: true })).toMatchObject({
      ...{ drift: [{ what: 'outdated row' }], failures: [], complete: true },
    })
  })

  it('rejects an invalid date, and the `resume` option together with dryRun', async () => {
    const { billing } = await start('stripe', { webhooks: false })
    await expect(billing.sync({ since: new Date('never') })).rejects.toThrow(InvalidArgument)
    await expect(billing.sync({ dryRun: true, resume: true })).rejects.toThrow(InvalidArgument)
    expect(await billing.sync({ resume: true })).toMatchObject({ complete: true, users: 0 })
  })
})
