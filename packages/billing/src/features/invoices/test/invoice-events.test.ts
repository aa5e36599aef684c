import { describe, expect, it } from 'vitest'
import { PROVIDERS, settleCharge, start, stripeSdk } from '../../../../test/support.ts'
import { type AnyBillingEvent, type EventListeners, money } from '../../../index.ts'

const TYPES = [
  'subscription.ended',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.action_required',
  'invoice.voided',
  'refund.created',
  'credit_note.created',
  'trial.ending',
  'card.expiring',
] as const

async function listening(provider: 'stripe' | 'braintree') {
  const emitted: AnyBillingEvent[] = []
  const listen = (event: AnyBillingEvent) => emitted.push(event)
  const on = Object.fromEntries(TYPES.map((type) => [type, listen])) as EventListeners
  const test = await start(provider, { on })
  const take = async () => {
    await test.settle()
    return emitted.splice(0)
  }
  return { ...test, take }
}

const kinds = (events: readonly AnyBillingEvent[]) => events.map(({ type }) => type)

describe.each(PROVIDERS)('billing events at $provider', (given) => {
  const { provider, card } = given

  it('report each payment of a subscription exactly once', async () => {
    const test = await listening(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    const paid = await test.take()
    expect(kinds(paid)).toEqual(['invoice.paid'])
    expect(paid[0]).toMatchObject({
      provider,
      owner: { type: 'user', id: user.id },
      data: { invoice: { total: money(1000, 'usd'), amountDue: money(1000, 'usd') } },
    })
    await test.advance({ days: 32 })
    await test.advance({ days: 1 })
    expect(kinds(await test.take())).toEqual(['invoice.paid'])
  })

  it('report a single payment and its refund', async () => {
    const test = await listening(provider)
    const { user } = test
    await user.updateCard(card)
    const invoice = await user.invoiceFor('A T-shirt', money(1500, 'usd'), { idempotencyKey: 'k' })
    await user.invoiceFor('A T-shirt', money(1500, 'usd'), { idempotencyKey: 'k' })
    const paid = await test.take()
    expect(kinds(paid)).toEqual(['invoice.paid'])
    expect(paid[0]).toMatchObject({ data: { invoice: { id: invoice.id } } })
    await settleCharge(test, provider, invoice.id)
    const refund = await user.refund(invoice, { amount: money(500, 'usd'), idempotencyKey: 'b' })
    await user.refund(invoice, { amount: money(500, 'usd'), idempotencyKey: 'b' })
    const back = await test.take()
    expect(kinds(back)).toEqual(['refund.created'])
    expect(back[0]).toMatchObject({
      data: { refund: { id: refund.id, amount: money(500, 'usd') } },
    })
  })

  it('report a failed charge and its next attempt', async () => {
    const test = await listening(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    await test.take()
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    for (let i = 0; i < 9; i++) {
      test.sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    }
    await test.advance({ months: 1, hours: 2 })
    const [failed] = (await test.take()).filter(({ type }) => type === 'invoice.payment_failed')
    expect(failed).toMatchObject({
      data: { invoice: { total: money(1000, 'usd') }, attempt: 1 },
    })
  })

  it('report the end of a trial, and the end of access, when the date has passed', async () => {
    const test = await listening(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').trialDays(10).create(card)
    await test.advance({ days: 6 })
    expect(kinds(await test.take())).not.toContain('trial.ending')
    await test.advance({ days: 2 })
    await test.advance({ hours: 2 })
    const emitted = (await test.take()).filter(({ type }) => type === 'trial.ending')
    expect(emitted).toHaveLength(1)
    expect(emitted[0]).toMatchObject({ data: { subscription: { name: 'main', price: 'monthly' } } })
    await test.advance({ days: 10 })
    await (await user.subscription('main')).cancel()
    expect(kinds(await test.take())).not.toContain('subscription.ended')
    await test.advance({ days: 40 })
    await test.advance({ hours: 2 })
    const ended = (await test.take()).filter(({ type }) => type === 'subscription.ended')
    expect(ended).toHaveLength(1)
  })

  it('report the end of access even if the provider’s webhook is lost', async () => {
    const test = await listening(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    await (await user.subscription('main')).cancel()
    const { endsAt } = await user.subscription('main')
    const seconds = ((endsAt?.getTime() ?? 0) - test.sandbox.clock.now().getTime()) / 1000
    await test.advance({ seconds: Math.ceil(seconds) + 3600 })
    expect(kinds(await test.take()).filter((type) => type === 'subscription.ended')).toHaveLength(1)
  })
})

describe('billing events at Stripe', () => {
  it('report a credit note, and a refund made in the dashboard', async () => {
    const test = await listening('stripe')
    const { user, sandbox } = test
    await user.updateCard('pm_card_visa')
    const invoice = await user.invoiceFor('A T-shirt', 1500)
    await test.take()
    const note = await invoice.creditNote({ to: 'outside', amount: money(100, 'usd') })
    const [written, ...others] = await test.take()
    expect(written).toMatchObject({
      type: 'credit_note.created',
      data: { creditNote: { id: note.id, invoice: invoice.id, total: money(100, 'usd') } },
    })
    expect(others).toEqual([])
    const [charge] = sandbox.stripe.charges(user.providerId ?? '')
    const stripe = await stripeSdk(test)
    await stripe.refunds.create({ charge: String(charge?.id), amount: 200 })
    expect(await test.take()).toMatchObject([
      { type: 'refund.created', data: { refund: { amount: money(200, 'usd') } } },
    ])
  })

  it('report a payment that requires authentication, with the URL of the page to confirm it', async () => {
    const test = await listening('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.take()
    await user.updateCard('pm_card_authenticationRequired')
    await test.advance({ days: 32 })
    const emitted = await test.take()
    expect(kinds(emitted)).toContain('invoice.action_required')
  })

  it("report that an owner's generic trial ends soon", async () => {
    const test = await listening('stripe')
    const { user, sandbox } = test
    await user.startGenericTrial(new Date(sandbox.clock.now().getTime() + 2 * 86_400_000))
    await user.updateCard('pm_card_visa')
    expect(kinds(await test.take())).toEqual(['trial.ending'])
  })

  it('report an expiring card of owners who will be charged again, and of no other owners', async () => {
    const test = await listening('stripe')
    const { user, database, sandbox } = test
    const subscribe = (payer: typeof user) =>
      payer.newSubscription('main', 'monthly').create('pm_card_visa')
    await subscribe(user)
    const cancelled = await test.createUser()
    await (await subscribe(cancelled)).cancel()
    const ended = await test.createUser()
    await (await subscribe(ended)).cancelNow()
    await (await test.createUser()).updateCard('pm_card_visa')
    const onTrial = await test.createUser()
    await onTrial.newSubscription('main', 'monthly').trialDays(20).create('pm_card_visa')
    await test.take()
    const expires = sandbox.clock.now().toISOString().slice(0, 7)
    await database.kysely.updateTable('users').set({ card_expires: expires }).execute()
    await test.advance({ hours: 1 })
    const emitted = (await test.take()).sort((a, b) => Number(a.owner.id) - Number(b.owner.id))
    expect(emitted.map(({ type, owner }) => [type, owner.id])).toEqual([
      ['card.expiring', user.id],
      ['card.expiring', onTrial.id],
    ])
    expect(emitted[0]).toMatchObject({ data: { brand: 'visa', lastFour: '4242', expires } })
    await test.advance({ hours: 5 })
    expect(await test.take()).toEqual([])
  })
})

describe('billing events at Braintree', () => {
  it('report an expiring card before the subscription has started', async () => {
    const test = await listening('braintree')
    const { user, database, sandbox } = test
    await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
    await test.take()
    const expires = sandbox.clock.now().toISOString().slice(0, 7)
    await database.kysely.updateTable('users').set({ card_expires: expires }).execute()
    const pending = { provider_status: 'Pending' }
    await database.kysely.updateTable('subscriptions').set(pending).execute()
    await test.advance({ hours: 1 })
    expect(kinds(await test.take())).toEqual(['card.expiring'])
  })
})
