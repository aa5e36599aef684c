import { describe, expect, it } from 'vitest'
import { addCustomer, startMerchant } from './support.ts'

describe("Braintree's vault", () => {
  it("replaces the card behind a payment method's token, and subscriptions with this token charge the new card", async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    const updated = await gateway.paymentMethod.update(token, {
      paymentMethodNonce: 'fake-valid-mastercard-nonce',
      options: { verifyCard: true },
    } as never)
    expect(updated.paymentMethod).toMatchObject({ token, cardType: 'MasterCard', last4: '4444' })
    await clock.advance({ months: 1 })
    const cards = sandbox
      .transactions(customerId)
      .map(({ instrument }) => (instrument.kind === 'credit_card' ? instrument.card.last4 : null))
    expect(cards).toEqual(['1881', '4444'])
  })

  it("changes a card's number, name or expiration date, and keeps its other details", async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token, customerId } = await addCustomer(merchant)
    const update = async (changes: object) =>
      (await gateway.creditCard.update(token, changes as never)).creditCard
    expect(await update({ cardholderName: 'Ada L' })).toMatchObject({
      cardholderName: 'Ada L',
      expirationDate: '12/2030',
    })
    expect(await update({ expirationDate: '05/31' })).toMatchObject({ expirationDate: '05/2031' })
    expect(await update({ number: '378282246310005' })).toMatchObject({
      cardType: 'American Express',
      expirationDate: '05/2031',
    })
    const updated = await gateway.customer.update(customerId, {
      creditCard: {
        number: '4111111111111111',
        expirationDate: '01/2032',
        options: { updateExistingToken: token },
      },
    } as never)
    expect(updated.customer.creditCards).toHaveLength(1)
    expect(updated.customer.creditCards?.[0]).toMatchObject({ token, last4: '1111' })
  })

  it('updates the subscriptions when a payment method token or customer id changes', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    await gateway.paymentMethod.update(token, { token: 'renamed' } as never)
    await gateway.customer.update(customerId, { id: 'ada' } as never)
    await gateway.subscription.update('s', { id: 's2' } as never)
    await clock.advance({ months: 1 })
    expect(sandbox.subscription('s')).toBeNull()
    expect(sandbox.subscription('s2')).toMatchObject({
      customerId: 'ada',
      paymentMethodToken: 'renamed',
      currentBillingCycle: 2,
    })
    expect(sandbox.transactions('ada')).toMatchObject([{ token: 'renamed', subscriptionId: 's2' }])
  })

  it('cancels the subscriptions of a deleted customer, and keeps the transactions', async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox, clock } = merchant
    const { token, customerId } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    await gateway.customer.delete(customerId)
    expect(sandbox.subscription('s')?.status).toBe('Canceled')
    await clock.advance({ months: 2 })
    const [transaction] = sandbox.transactions(customerId)
    expect(await gateway.transaction.find(transaction?.id ?? '')).toMatchObject({
      status: 'settled',
      customer: { id: customerId, email: 'ada@example.com' },
    })
  })
})
