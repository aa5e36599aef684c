import braintree from 'braintree'
import { describe, expect, it } from 'vitest'
import { addCustomer, listen, startMerchant } from './support.ts'

const OTHER = {
  merchantId: 'other_merchant',
  publicKey: 'other_public_key',
  privateKey: 'other_private_key',
  currency: 'EUR',
  defaultMerchantAccount: 'other_euro',
}

describe('several merchants on one server', () => {
  it('have their own vaults, plans and settings', async () => {
    const { gateway, sandbox } = await startMerchant({ merchants: [OTHER] })
    const other = sandbox.merchant('other_merchant')
    const theirs = new braintree.BraintreeGateway(other.config)
    await gateway.customer.create({ id: 'ada', firstName: 'Ada' })
    await theirs.customer.create({ id: 'ada', firstName: 'Adelheid' })
    expect((await gateway.customer.find('ada')).firstName).toBe('Ada')
    expect((await theirs.customer.find('ada')).firstName).toBe('Adelheid')
    expect(other.plans()).toEqual([])
    other.changeSettings({ customFields: ['shoe'] })
    expect(sandbox.settings().customFields).toEqual([])
    expect(other.url).toBe(sandbox.url)
  })

  it('reject the API keys of another merchant', async () => {
    const { sandbox } = await startMerchant({ merchants: [OTHER] })
    const { environment } = sandbox.config
    const gatewayOf = (merchantId: string, privateKey: string) =>
      new braintree.BraintreeGateway({
        environment,
        merchantId,
        publicKey: OTHER.publicKey,
        privateKey,
      })
    const crossed = gatewayOf('sandbox_merchant', OTHER.privateKey)
    await expect(crossed.customer.create({})).rejects.toMatchObject({ type: 'authorizationError' })
    const mixed = gatewayOf(OTHER.merchantId, 'sandbox_private_key')
    await expect(mixed.customer.create({})).rejects.toMatchObject({ type: 'authenticationError' })
  })

  it('share the clock, and sign webhooks with their own keys', async () => {
    const merchant = await startMerchant({ merchants: [OTHER] })
    const other = merchant.sandbox.merchant('other_merchant')
    const gateway = new braintree.BraintreeGateway(other.config)
    other.definePlan({ id: 'theirs', price: 700 })
    const { url, received } = await listen({ ...merchant, gateway })
    other.registerWebhook(url)
    const { token, customerId } = await addCustomer({ ...merchant, gateway })
    const subscribed = { id: 's', planId: 'theirs', paymentMethodToken: token }
    expect((await gateway.subscription.create(subscribed)).success).toBe(true)
    await merchant.clock.advance({ months: 1 })
    await merchant.outbox.flush()
    expect(other.transactions(customerId)).toHaveLength(2)
    expect(other.transactions(customerId)[0]).toMatchObject({
      currency: 'EUR',
      merchantAccountId: 'other_euro',
      status: 'settled',
    })
    expect(merchant.sandbox.transactions()).toEqual([])
    expect(received.map(({ kind }) => kind)).toContain('subscription_charged_successfully')
    expect(merchant.failures.list()).toEqual([])
  })

  it('must have different ids and keys, and requesting the handle of an unknown merchant fails', async () => {
    await expect(startMerchant({ merchants: [OTHER, OTHER] })).rejects.toThrow(TypeError)
    const sameKey = { ...OTHER, merchantId: 'third' }
    await expect(startMerchant({ merchants: [OTHER, sameKey] })).rejects.toThrow(TypeError)
    const { sandbox } = await startMerchant()
    expect(() => sandbox.merchant('nobody')).toThrow(RangeError)
    expect(sandbox.merchant('sandbox_merchant')).toBe(sandbox)
  })
})

it('a Braintree sandbox uses the `defaultMerchantAccount` option as the id of the default merchant account', async () => {
  const merchant = await startMerchant({ defaultMerchantAccount: 'shop', currency: 'CHF' })
  const { gateway } = merchant
  const { token } = await addCustomer(merchant)
  const sold = await gateway.transaction.sale({ amount: '5.00', paymentMethodToken: token })
  expect(sold.transaction).toMatchObject({ merchantAccountId: 'shop', currencyIsoCode: 'CHF' })
  const account = await gateway.merchantAccount.find('shop')
  expect(account).toMatchObject({ default: true })
})
