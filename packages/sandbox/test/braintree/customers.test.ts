import type braintree from 'braintree'
import { describe, expect, it } from 'vitest'
import { addCustomer, codesOf, collect, startMerchant } from './support.ts'

const CARD = { number: '4111111111111111', expirationDate: '12/2030' }

describe('the customer API', () => {
  it('stores a phone number in two parts, and tax identifiers that no response contains', async () => {
    const { gateway, sandbox } = await startMerchant()
    const { customer } = await gateway.customer.create({
      internationalPhone: { countryCode: '1', nationalNumber: '3121234567' },
      taxIdentifiers: [{ countryCode: 'BR', identifier: '123456789' }],
    } as never)
    expect(customer).toMatchObject({
      internationalPhone: { countryCode: '1', nationalNumber: '3121234567' },
    })
    expect(customer).not.toHaveProperty('taxIdentifiers')
    expect(sandbox.customer(customer.id)?.taxIdentifiers).toHaveLength(1)
    const wrong = { internationalPhone: { countryCode: '0001', nationalNumber: '1' } }
    expect(codesOf(await gateway.customer.update(customer.id, wrong as never))).toEqual([
      '91625',
      '91626',
    ])
  })

  it('stores a PayPal account with a consent code, but rejects an account that is approved for a single payment', async () => {
    const { gateway } = await startMerchant()
    await gateway.customer.create({ id: 'ada' })
    const add = (paypalAccount: object) =>
      gateway.customer.update('ada', { paypalAccount } as never)
    const kept = await add({ consentCode: 'yes', token: 'paypal' })
    expect(kept.customer.paypalAccounts).toMatchObject([{ token: 'paypal' }])
    expect(codesOf(await add({ accessToken: 'only now' }))).toEqual(['82902'])
    expect(codesOf(await add({ consentCode: 'yes', token: 'paypal' }))).toEqual(['92906'])
  })

  it('changes the name and address of a stored card and makes the card the default, without a card number in the call', async () => {
    const { gateway } = await startMerchant()
    const { customer } = await gateway.customer.create({
      creditCard: { ...CARD, token: 'first', billingAddress: { locality: 'London' } },
    } as never)
    await gateway.creditCard.create({ ...CARD, customerId: customer.id, token: 'second' })
    await gateway.customer.update(customer.id, {
      creditCard: {
        cardholderName: 'Ada',
        billingAddress: { locality: 'Ockham' },
        options: { updateExistingToken: 'second', makeDefault: true },
      },
    } as never)
    expect(await gateway.creditCard.find('second')).toMatchObject({
      default: true,
      cardholderName: 'Ada',
      last4: '1111',
      billingAddress: { locality: 'Ockham' },
    })
    expect(await gateway.creditCard.find('first')).toMatchObject({ default: false })
  })

  it('changes nothing if the card in the update is declined', async () => {
    const { gateway, sandbox } = await startMerchant()
    await gateway.customer.create({ id: 'ada', firstName: 'Ada' })
    const declined = {
      firstName: 'Eve',
      creditCard: { ...CARD, number: '4000111111111115', options: { verifyCard: true } },
    }
    expect((await gateway.customer.update('ada', declined as never)).success).toBe(false)
    expect(sandbox.customer('ada')?.firstName).toBe('Ada')
    expect((await gateway.customer.create({ id: 'eve', ...declined } as never)).success).toBe(false)
    expect(sandbox.customer('eve')).toBeNull()
  })

  it('omits payment methods and addresses of a found customer if a filter of the call says so', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { customerId, token } = await addCustomer(merchant)
    await gateway.address.create({ customerId, locality: 'London' } as never)
    await gateway.subscription.create({ planId: 'monthly', paymentMethodToken: token })
    const find = gateway.customer.find.bind(gateway.customer) as unknown as (
      id: string,
      filter?: string,
    ) => Promise<braintree.Customer>
    const subscriptionsOf = ({ creditCards = [] }: braintree.Customer) =>
      creditCards.map(({ subscriptions }) => subscriptions?.length)
    const all = await find(customerId)
    expect(subscriptionsOf(all)).toEqual([1])
    const top = await find(customerId, 'customertoplevelassociations')
    expect(subscriptionsOf(top)).toEqual([0])
    expect(top.addresses).toHaveLength(1)
    const none = await find(customerId, 'customernoassociations')
    expect(none).toMatchObject({ creditCards: [], addresses: [], paymentMethods: [] })
  })

  it('finds customers that share a card number', async () => {
    const { gateway } = await startMerchant()
    for (const id of ['ada', 'bob']) {
      await gateway.customer.create({ id, creditCard: { ...CARD, token: `of-${id}` } } as never)
    }
    await gateway.customer.create({ id: 'eve', paymentMethodNonce: 'fake-valid-amex-nonce' })
    const idsOf = async (
      build: (query: Record<string, () => { is(value: string): void }>) => void,
    ) =>
      (
        await collect<{ id: string }>(
          gateway.customer.search(
            build as unknown as Parameters<typeof gateway.customer.search>[0],
          ),
        )
      ).map(({ id }) => id)
    expect(await idsOf((query) => query.paymentMethodTokenWithDuplicates?.().is('of-ada'))).toEqual(
      ['bob', 'ada'],
    )
    expect(await idsOf((query) => query.creditCardNumber?.().is(CARD.number))).toEqual([
      'bob',
      'ada',
    ])
  })
})

describe('the payment method API', () => {
  it("accepts PayPal's old refresh tokens", async () => {
    const { gateway } = await startMerchant()
    const { customer } = await gateway.customer.create({})
    const { paymentMethod } = await gateway.paymentMethod.create({
      customerId: customer.id,
      paypalRefreshToken: 'from before',
    } as never)
    expect(paymentMethod).toMatchObject({ customerId: customer.id, revokedAt: null })
  })

  it('finds a payment method by a nonce, and rejects the nonce the second time', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    const { paymentMethodNonce } = await gateway.paymentMethodNonce.create(token)
    const { nonce } = paymentMethodNonce as unknown as { nonce: string }
    const fromNonce = () =>
      (
        gateway.creditCard as unknown as {
          fromNonce(nonce: string): Promise<{ token: string }>
        }
      ).fromNonce(nonce)
    expect(await fromNonce()).toMatchObject({ token })
    await expect(fromNonce()).rejects.toMatchObject({ type: 'notFoundError' })
  })
})
