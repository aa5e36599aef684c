import { describe, expect, it } from 'vitest'
import { type FlowTest, PROVIDERS, start, stripeSdk, takenFrom } from '../../../../test/support.ts'
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

  it('threat N3 lets its user add another card and subscribe again', async () => {
    const { test, user } = await deleted()
    const form = await user.paymentForm({ successPath: '/cards', cancelPath: '/cards' })
    expect(form.kind).toBe(provider === 'stripe' ? 'redirect' : 'token')
    await expect(user.charge(ten)).rejects.toThrow(NoPaymentMethod)
    await user.addPaymentMethod(otherCard)
    await user.newSubscription('main', 'monthly').create()
    expect(await user.subscribed('main')).toBe(true)
    expect(takenFrom(test, user)).toBe(1000)
  })

  it('threat W4 gives its user no access after sync()', async () => {
    const { test, user } = await deleted()
    const { drift, failures } = await test.billing.sync()
    expect(failures).toEqual([])
    expect(drift.map(({ what }) => what)).toContain('outdated row')
    expect(await user.subscribed('main')).toBe(false)
    expect((await test.billing.sync()).drift).toEqual([])
  })

  it('throws NoCustomer when its details are changed', async () => {
    const { user } = await deleted()
    await expect(user.updateCustomer({ name: 'Ada King' })).rejects.toThrow(NoCustomer)
    await expect(user.updateCustomer({ address: { city: 'Bath' } })).rejects.toThrow(NoCustomer)
    await user.syncCustomerDetails()
  })
})

it('the billing portal of a deleted customer throws NoCustomer', async () => {
  const test = await start('stripe', { webhooks: false })
  await test.user.updateCard('pm_card_visa')
  await deleteCustomer(test)
  await expect(test.user.billingPortal({ returnPath: '/' })).rejects.toThrow(NoCustomer)
})
