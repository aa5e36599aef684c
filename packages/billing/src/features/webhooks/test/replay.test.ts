import { describe, expect, it } from 'vitest'
import { PROVIDERS, START, start } from '../../../../test/support.ts'
import { InvalidArgument, Unsupported } from '../../../index.ts'

const HOUR = 3_600_000

describe.each(PROVIDERS)('replay() at $provider', ({ provider, card }) => {
  const name = provider === 'stripe' ? 'handleInvoicePaid' : 'handleSubscriptionChargedSuccessfully'
  const type = provider === 'stripe' ? 'invoice.paid' : 'subscription_charged_successfully'

  it('handles stored webhooks again, selected by id, type and time', async () => {
    let handled = 0
    const handlers = { [name]: async () => void handled++ }
    const test = await start(provider, { handlers })
    const { billing, user, database } = test
    await user.newSubscription('main', 'monthly').create(card)
    await test.advance({ months: 1, days: 2 })
    expect(handled).toBe(2)
    const before = handled
    const rows = await database.kysely
      .selectFrom('billing_webhooks')
      .selectAll()
      .where('type', '=', type)
      .orderBy('id', 'desc')
      .execute()
    const again = async (options: Parameters<typeof billing.webhooks.replay>[0]) => {
      const count = await billing.webhooks.replay(options)
      await billing.process()
      return count
    }
    expect(await again({ id: String(rows[0]?.event_id) })).toBe(1)
    expect(handled).toBe(before + 1)
    const to = new Date(START.getTime() + HOUR)
    expect(await again({ from: START, to, type })).toBe(before - 1)
    expect(handled).toBe(2 * before)
    expect(await again({ from: test.sandbox.clock.now(), type })).toBe(0)
    expect(await again({ from: new Date(test.sandbox.clock.now().getTime() + HOUR) })).toBe(0)
    expect(await again({ id: 'evt_none' })).toBe(0)
    expect(await billing.webhooks.pending()).toEqual([])
    expect((await billing.sync({ dryRun: true })).drift).toEqual([])
    await expect(billing.webhooks.replay({})).rejects.toThrow(InvalidArgument)
    await expect(billing.webhooks.replay({ from: new Date('x') })).rejects.toThrow(InvalidArgument)
  })
})

it('replay() fetches events from Stripe that never arrived as webhooks, each of them once', async () => {
  const test = await start('stripe', { webhooks: false })
  const { billing, user, sandbox } = test
  const { providerId } = await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await billing.webhooks.replay({ from: START, source: 'provider' })
  await billing.process()
  const [subscription] = sandbox.stripe.subscriptions(user.providerId ?? '')
  expect(subscription?.id).toBe(providerId)
  await test.advance({ months: 1, days: 2 })
  const from = new Date(START.getTime() + 24 * HOUR)
  const found = await billing.webhooks.replay({ from, source: 'provider', type: 'invoice.paid' })
  expect(found).toBe(1)
  await billing.process()
  const [id] = sandbox.stripe.events('invoice.paid').map((event) => String(event.id))
  expect(await billing.webhooks.replay({ id: id ?? '', source: 'provider' })).toBe(1)
  await billing.process()
  expect(await billing.webhooks.replay({ id: 'evt_none', source: 'provider' })).toBe(0)
  expect(await billing.webhooks.pending()).toEqual([])
})

it('replay() of events that never arrived is unsupported at Braintree, which does not keep events', async () => {
  const { billing } = await start('braintree', { webhooks: false })
  const asked = billing.webhooks.replay({ from: START, provider: 'braintree', source: 'provider' })
  await expect(asked).rejects.toThrow(Unsupported)
})
