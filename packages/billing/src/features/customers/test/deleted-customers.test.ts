import { describe, expect, it } from 'vitest'
import {
  type FlowTest,
  PROVIDERS,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import { NoCustomer, NoPaymentMethod } from '../../../index.ts'

async function deleteCustomer(test: FlowTest): Promise<void> {
  const { provider, providerId } = test.user
  if (provider === 'stripe') {
    await (await stripeSdk(test)).customers.del(providerId ?? '')
    return
  }
  const { default: braintree } = await import('braintree')
  const sdk = new braintree.BraintreeGateway(test.sandbox.braintree.config as never)
  await sdk.customer.delete(providerId ?? '')
}

describe.each(PROVIDERS)('a customer deleted at $provider without a webhook', (given) => {
  const { provider, card, otherCard, ten } = given

  async function deleted() {
    const test = await start(provider, { webhooks: false })
    await test.user.newSubscription('main', 'monthly').create(card)
    await deleteCustomer(test)
    return { test, user: await test.billing.user(test.user.id) }
  }

  it('can be replaced: its user can add a card and subscribe again (threat N3)', async () => {
    const { test, user } = await deleted()
    const form = await user.paymentForm({ successPath: '/cards', cancelPath: '/cards' })
    expect(form.kind).toBe(provider === 'stripe' ? 'redirect' : 'token')
    await expect(user.charge(ten)).rejects.toThrow(NoPaymentMethod)
    await user.addPaymentMethod(otherCard)
    await user.newSubscription('main', 'monthly').create()
    expect(await user.subscribed('main')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('has no more access after sync() (threat W4)', async () => {
    const { test, user } = await deleted()
    const { drift, failures } = await test.billing.sync()
    expect(failures).toEqual([])
    expect(drift.map(({ what }) => what)).toContain('outdated row')
    expect(await user.subscribed('main')).toBe(false)
    expect((await test.billing.sync()).drift).toEqual([])
  })

  it('causes the error NoCustomer when its details are updated', async () => {
    const { user } = await deleted()
    await expect(user.updateCustomer({ name: 'Ada King' })).rejects.toThrow(NoCustomer)
    await expect(user.updateCustomer({ address: { city: 'Bath' } })).rejects.toThrow(NoCustomer)
    await user.syncCustomerDetails()
  })
})

it('the billing portal throws NoCustomer for a customer that was deleted at Stripe', async () => {
  const test = await start('stripe', { webhooks: false })
  await test.user.updateCard('pm_card_visa')
  await deleteCustomer(test)
  await expect(test.user.billingPortal({ returnPath: '/' })).rejects.toThrow(NoCustomer)
})
