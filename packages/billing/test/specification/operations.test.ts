import { describe, expect, it } from 'vitest'
import { PaymentFailed, Unsupported } from '../../src/index.ts'
import { countProviderCustomers, PROVIDERS, start, stripeSdk, sumChargedCents } from '../support.ts'
import { withoutCalls } from './no-calls.ts'

const DAY = 86_400_000

describe.each(PROVIDERS)('operations of a user, at $provider', (given) => {
  const { provider, card, otherCard, otherLastFour, ten } = given

  it('newSubscription(name, plan) accepts a coupon, trial days and customer details', async () => {
    const test = await start(provider, { coupon: true })
    const { user, sandbox } = test
    const builder = user.newSubscription('main', 'monthly').withCoupon('SPRING').trialDays(5)
    expect(countProviderCustomers(test, provider)).toBe(0)
    const subscription = await builder.create(card, { email: 'bill@example.com', phone: '+49 1' })
    expect(subscription).toMatchObject({ name: 'main', providerPlan: 'monthly' })
    expect(subscription.onTrial()).toBe(true)
    const [customer] =
      provider === 'stripe' ? sandbox.stripe.customers() : sandbox.braintree.customers()
    expect(customer).toMatchObject({ email: 'bill@example.com', phone: '+49 1' })
    await test.advance({ days: 6 })
    expect(sumChargedCents(test, user)).toBe(700)
  })

  it('subscribed(name) is also true on trial and in the grace period', async () => {
    const { user } = await start(provider)
    const one = await user.newSubscription('main', 'monthly').create(card)
    await user.newSubscription('other', 'pro').trialDays(3).create()
    await one.cancel()
    expect(await user.subscribed('main')).toBe(true)
    expect(await user.subscribed('other')).toBe(true)
    expect(await user.subscribed('third')).toBe(false)
  })

  it('subscription(name).onTrial() and user.onTrial(name) return the same', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').trialDays(3).create(card)
    for (const expected of [true, false]) {
      expect((await user.subscription('main')).onTrial()).toBe(expected)
      expect(await user.onTrial('main')).toBe(expected)
      await test.advance({ days: 4 })
    }
  })

  it('user.onTrial() without a name is true until the user’s trial_ends_at has passed', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    const end = new Date(sandbox.clock.nowMs() + DAY)
    await user.startGenericTrial(end)
    await user.newSubscription('main', 'monthly').create(card)
    await sandbox.clock.advanceTo(end)
    expect(await user.onTrial()).toBe(true)
    await sandbox.clock.advanceTo(new Date(end.getTime() + 1000))
    expect(await user.onTrial()).toBe(false)
  })

  it('onGenericTrial() is true in the user’s own trial, until a subscription exists', async () => {
    const { user, sandbox } = await start(provider)
    await user.startGenericTrial(new Date(sandbox.clock.nowMs() + DAY))
    expect(await user.onGenericTrial()).toBe(true)
    await user.newSubscription('main', 'monthly').create(card)
    expect([await user.onGenericTrial(), await user.onTrial()]).toEqual([false, true])
  })

  it('subscribedToPlan(plan, name) is true while that subscription is active on that plan', async () => {
    const { user } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
    expect(await user.subscribedToPlan('pro', 'main')).toBe(false)
    expect(await user.subscribedToPlan('monthly', 'other')).toBe(false)
    expect(await user.subscribedToPlan(['pro', 'monthly'], 'main')).toBe(true)
    await subscription.cancelNow()
    expect(await user.subscribedToPlan('monthly', 'main')).toBe(false)
  })

  it('cancelled() stays true after the subscription ended, while onGracePeriod() is true only until then', async () => {
    const { user } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    const both = () => [subscription.cancelled(), subscription.onGracePeriod()]
    expect(both()).toEqual([false, false])
    await subscription.cancel()
    expect(both()).toEqual([true, true])
    await subscription.cancelNow()
    expect(both()).toEqual([true, false])
  })

  it('updateCard(token) makes the new card the default, which renewals charge', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    await user.updateCard(otherCard)
    expect(user.cardLastFour).toBe(otherLastFour)
    await test.advance({ months: 1, hours: 2 })
    expect(await cardOfLastCharge(test)).toBe(otherLastFour)
  })

  it('taxPercentage() returns the application’s value, which applies to subscriptions only', async () => {
    const test = await start(provider, {
      taxPercentage: (user) => (user.email === 'ada@example.com' ? 7.75 : 0),
    })
    const { user } = test
    expect(await user.taxPercentage()).toBe(7.75)
    await user.newSubscription('main', 'monthly').create(card)
    expect(sumChargedCents(test, user)).toBe(1078)
    await user.charge(ten)
    expect(sumChargedCents(test, user)).toBe(2078)
    await test.advance({ minutes: 1 })
    await user.invoiceFor('Setup', ten)
    expect(sumChargedCents(test, user)).toBe(3078)
    const eve = await test.createUser({ email: 'eve@example.com' })
    expect(await eve.taxPercentage()).toBe(0)
  })

  it('charge(amount, options) passes the options to the provider, and returns its full response', async () => {
    const { user, sandbox } = await start(provider)
    await user.updateCard(card)
    const options = provider === 'stripe' ? { description: 'Mug' } : { orderId: 'mug-1' }
    const answer = (await user.charge(ten, options)) as Record<string, unknown>
    expect(answer).toMatchObject(
      provider === 'stripe'
        ? { object: 'payment_intent', status: 'succeeded', amount: 1000, description: 'Mug' }
        : { status: 'submitted_for_settlement', amount: '10.00', orderId: 'mug-1' },
    )
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await expect(user.charge(ten)).rejects.toThrow(PaymentFailed)
  })

  it('invoiceFor(description, amount) charges immediately, and creates an invoice', async () => {
    const test = await start(provider)
    const { user } = test
    await user.updateCard(card)
    const invoice = await user.invoiceFor('One hour', ten)
    expect(sumChargedCents(test, user)).toBe(1000)
    const listed = await user.invoicesIncludingPending()
    expect(listed).toMatchObject([{ id: invoice.id, lines: [{ description: 'One hour' }] }])
  })

  it('invoices() and invoicesIncludingPending() return only the customer’s own invoices', async () => {
    const test = await start(provider)
    const { user } = test
    expect([await user.invoices(), await user.invoicesIncludingPending()]).toEqual([[], []])
    await user.newSubscription('main', 'monthly').create(card)
    expect(await user.invoicesIncludingPending()).toHaveLength(1)
    await test.advance({ days: 3 })
    expect(await user.invoices()).toHaveLength(1)
    const eve = await test.createUser()
    expect(await eve.invoicesIncludingPending()).toEqual([])
  })

  it('downloadInvoice(id, { vendor, product }) returns a response with a PDF', async () => {
    const { user } = await start(provider)
    await user.newSubscription('main', 'monthly').create(card)
    const [invoice] = await user.invoicesIncludingPending()
    const response = await user.downloadInvoice(invoice?.id ?? '', {
      vendor: 'Tollgate Ltd',
      product: 'Gold Plan',
    })
    expect(response).toBeInstanceOf(Response)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/pdf')
    expect(response.headers.get('content-disposition')).toContain('Gold_Plan_1_2026.pdf')
    expect((await response.text()).startsWith('%PDF-')).toBe(true)
  })
})

describe('quantities of a subscription', () => {
  it('are changed by incrementQuantity(), decrementQuantity() and updateQuantity() at Stripe', async () => {
    const { user } = await start('stripe')
    const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await subscription.incrementQuantity()
    expect(subscription.quantity).toBe(2)
    await subscription.incrementQuantity(5)
    expect(subscription.quantity).toBe(7)
    await subscription.decrementQuantity()
    expect(subscription.quantity).toBe(6)
    await subscription.decrementQuantity(2)
    expect(subscription.quantity).toBe(4)
    await subscription.updateQuantity(10)
    expect(subscription.quantity).toBe(10)
  })

  it('are rejected with Unsupported at Braintree, and no request is sent', async () => {
    const test = await start('braintree', { webhooks: false })
    const subscription = await test.user
      .newSubscription('main', 'monthly')
      .create('fake-valid-visa-nonce')
    await withoutCalls(test, async () => {
      await expect(subscription.incrementQuantity()).rejects.toThrow(Unsupported)
      await expect(subscription.decrementQuantity()).rejects.toThrow(Unsupported)
      await expect(subscription.updateQuantity(2)).rejects.toThrow(Unsupported)
    })
  })
})

describe('invoiceFor() at Stripe', () => {
  it('creates an invoice whose failed payment is retried by Stripe, unless voidOnFailure is set', async () => {
    for (const voidOnFailure of [false, true]) {
      const test = await start('stripe')
      const { user, sandbox } = test
      await user.updateCard('pm_card_visa')
      sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
      const failed = user.invoiceFor('Setup', 1000, { voidOnFailure })
      await expect(failed).rejects.toThrow(PaymentFailed)
      await test.advance({ days: 10 })
      expect(sumChargedCents(test, user)).toBe(voidOnFailure ? 0 : 1000)
    }
  })
})

describe('a plain number passed to charge()', () => {
  it('is in the smallest currency unit at Stripe, and in whole currency units at Braintree', async () => {
    const one = await start('stripe')
    await one.user.updateCard('pm_card_visa')
    await one.user.charge(1999)
    expect(sumChargedCents(one, one.user)).toBe(1999)
    const two = await start('braintree')
    await two.user.updateCard('fake-valid-visa-nonce')
    await two.user.charge(19.99)
    expect(sumChargedCents(two, two.user)).toBe(1999)
  })
})

async function cardOfLastCharge(test: Awaited<ReturnType<typeof start>>): Promise<string> {
  const { user, sandbox } = test
  const id = user.providerId ?? ''
  if (user.provider === 'braintree') {
    const token = sandbox.braintree.subscriptions(id)[0]?.paymentMethodToken
    const method = sandbox.braintree.paymentMethods(id).find((each) => each.token === token)
    return method?.instrument.kind === 'credit_card' ? method.instrument.card.last4 : ''
  }
  const { data } = await (await stripeSdk(test)).charges.list({ customer: id, limit: 1 })
  return data[0]?.payment_method_details?.card?.last4 ?? ''
}
