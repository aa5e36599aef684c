import { describe, expect, it } from 'vitest'
import { PROVIDERS, settleCharge, start } from '../../../../test/support.ts'
import { money, PaymentActionRequired } from '../../../index.ts'

describe.each(PROVIDERS)('the newest payment of a subscription at $provider', (given) => {
  const { provider, card } = given
  const isStripe = provider === 'stripe'

  it('is the payment of the current period, with its status', async () => {
    const test = await start(provider)
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    const first = await subscription.latestPayment()
    expect(first).toMatchObject({
      amount: money(1000, 'usd'),
      status: isStripe ? 'succeeded' : 'processing',
      confirmation: null,
      declineCode: null,
    })
    await settleCharge(test, provider, first?.id ?? '')
    expect((await subscription.latestPayment())?.status).toBe('succeeded')
    await test.advance({ months: 1, hours: 2 })
    expect((await subscription.latestPayment())?.id).not.toBe(first?.id)
  })

  it('is null during a trial, and is still available after the subscription ended', async () => {
    const test = await start(provider)
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').trialDays(9).create(card)
    expect(await subscription.latestPayment()).toBeNull()
    await test.advance({ days: 10 })
    await subscription.cancelNow()
    expect((await subscription.latestPayment())?.amount).toEqual(money(1000, 'usd'))
  })

  it('includes the decline code if the payment was declined', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create(card)
    sandbox.trouble.declineNextCharge(
      user.providerId ?? '',
      isStripe ? 'insufficient_funds' : '2001',
    )
    await test.advance({ months: 1, hours: 2 })
    const payment = await (await user.subscription('main')).latestPayment()
    expect(payment).toMatchObject({
      status: 'needs_method',
      declineCode: isStripe ? 'insufficient_funds' : 'Insufficient Funds',
    })
  })
})

it('the newest payment of a subscription at Stripe contains the pending confirmation until the customer has made it', async () => {
  const { user } = await start('stripe')
  const asked = user.newSubscription('main', 'monthly').create('pm_card_authenticationRequired')
  const thrown = await asked.catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(PaymentActionRequired)
  const { payment } = thrown as PaymentActionRequired
  const latest = await (await user.subscription('main')).latestPayment()
  expect(latest).toMatchObject({
    id: payment.id,
    status: 'needs_action',
    confirmation: { kind: 'payment', ...payment },
  })
})
