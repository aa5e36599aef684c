import type braintree from 'braintree'
import { describe, expect, it } from 'vitest'
import { addCustomer, codesOf, collect, type Merchant, startMerchant } from './support.ts'

interface Refusal {
  readonly success: boolean
  readonly message: string
  readonly transaction?: braintree.Transaction
  readonly verification?: { status: string; processorResponseCode: string }
}

const VERIFICATION_ONLY = [
  ['4000111111111115', 'processor_declined', '2000'],
  ['5105105105105100', 'processor_declined', '2000'],
  ['378734493671000', 'processor_declined', '2000'],
  ['6011000990139424', 'processor_declined', '2000'],
  ['38520000009814', 'processor_declined', '2000'],
  ['3566002020360505', 'failed', '3000'],
] as const

const AMOUNTS = [
  ['1999.99', 'submitted_for_settlement', '1000'],
  ['2000.00', 'processor_declined', '2000'],
  ['2001.50', 'processor_declined', '2001'],
  ['2999.99', 'processor_declined', '2999'],
  ['3000.99', 'failed', '3000'],
  ['3001.00', 'submitted_for_settlement', '1000'],
  ['5001.00', 'gateway_rejected', ''],
  ['5001.01', 'submitted_for_settlement', '1000'],
  ['5001.02', 'submitted_for_settlement', '1000'],
] as const

describe('the test cards and test amounts of Braintree', () => {
  it.each(VERIFICATION_ONLY)(
    'decline the card %s when it is verified',
    async (number, status, code) => {
      const { gateway } = await startMerchant()
      const { customer } = await gateway.customer.create({})
      const card = { customerId: customer.id, number, expirationDate: '12/2030' }
      const refused = (await gateway.creditCard.create({
        ...card,
        options: { verifyCard: true },
      })) as unknown as Refusal
      expect(refused).toMatchObject({
        success: false,
        verification: { status, processorResponseCode: code },
      })
    },
  )

  it.each(VERIFICATION_ONLY)(
    'accept a charge of the card %s, although its verification is declined',
    async (number) => {
      const merchant = await startMerchant()
      const { clock, gateway, sandbox } = merchant
      const { customer } = await gateway.customer.create({
        creditCard: { number, expirationDate: '12/2030' },
      } as never)
      const token = customer.paymentMethods?.[0]?.token ?? ''
      const sold = await sell(merchant, { paymentMethodToken: token, amount: '10.00' })
      expect(sold.success).toBe(true)
      await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
      await clock.advance({ months: 1 })
      expect(sandbox.subscription('s')).toMatchObject({ status: 'Active', currentBillingCycle: 2 })
    },
  )

  it.each(AMOUNTS)(
    'give a card transaction of the amount %s the status %s',
    async (amount, status, code) => {
      const merchant = await startMerchant()
      const { token } = await addCustomer(merchant)
      const { transaction } = await sell(merchant, { paymentMethodToken: token, amount })
      expect(transaction?.status).toBe(status)
      expect(transaction?.processorResponseCode ?? '').toBe(code)
    },
  )

  it.each([
    ['5001.01', 'processor_declined', '2038', 'processor_declined'],
    ['5001.02', 'settling', '1000', 'settlement_declined'],
    ['4002.00', 'settling', '1000', 'settlement_pending'],
    ['4003.00', 'settling', '1000', 'settlement_declined'],
  ])(
    'give a PayPal transaction of the amount %s the status %s',
    async (amount, status, code, later) => {
      const merchant = await startMerchant()
      const { token } = await addCustomer(merchant, 'fake-paypal-billing-agreement-nonce')
      const { transaction } = await sell(merchant, { paymentMethodToken: token, amount })
      expect(transaction?.status).toBe(status)
      expect(transaction?.processorResponseCode).toBe(code)
      await merchant.clock.advance({ days: 2 })
      expect((await merchant.gateway.transaction.find(transaction?.id ?? '')).status).toBe(later)
    },
  )

  it('reject a refund for a hard decline, and submit it despite a soft decline', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    const { transaction } = await sell(merchant, { paymentMethodToken: token, amount: '9000.00' })
    const id = transaction?.id ?? ''
    await gateway.testing.settle(id)
    const hard = (await gateway.transaction.refund(id, '2004.00')) as unknown as Refusal
    expect(hard).toMatchObject({
      success: false,
      message: 'Expired Card',
      transaction: {
        type: 'credit',
        status: 'processor_declined',
        processorResponseCode: '2004',
        processorResponseType: 'hard_declined',
        additionalProcessorResponse: '2004 : Expired Card',
      },
    })
    const soft = await gateway.transaction.refund(id, '2046.00')
    expect(soft.transaction).toMatchObject({
      status: 'submitted_for_settlement',
      processorResponseCode: '1005',
      processorResponseText: 'Auth Declined but Settlement Captured',
      processorResponseType: 'approved',
      additionalProcessorResponse: '2046 : Declined',
    })
    // The rejected refund does not count as refunded.
    const rest = await gateway.transaction.refund(id, '6954.00')
    expect(rest.success).toBe(true)
  })
})

function sell(merchant: Merchant, request: object): Promise<Refusal> {
  const options = { submitForSettlement: true }
  return merchant.gateway.transaction.sale({ options, ...request } as never) as never
}

describe('the option storeInVault of a sale', () => {
  it('creates a customer for the card if the sale names none', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { transaction } = await sell(merchant, {
      amount: '10.00',
      paymentMethodNonce: 'fake-valid-nonce',
      options: { storeInVault: true, submitForSettlement: true },
    })
    const id = transaction?.customer?.id ?? ''
    expect(id).not.toBe('')
    const customer = await gateway.customer.find(id)
    expect(customer.paymentMethods?.[0]?.token).toBe(transaction?.creditCard?.token)
    const again = { amount: '11.00', customerId: id }
    expect((await sell(merchant, again)).success).toBe(true)
  })

  it("stores the sale's customer details in the new customer", async () => {
    const merchant = await startMerchant()
    const { transaction } = await sell(merchant, {
      amount: '10.00',
      paymentMethodNonce: 'fake-valid-nonce',
      customer: { firstName: 'Ada', email: 'ada@example.com' },
      options: { storeInVaultOnSuccess: true },
    })
    expect(transaction?.customer).toMatchObject({ firstName: 'Ada', email: 'ada@example.com' })
    expect(merchant.sandbox.customers()).toMatchObject([
      { id: transaction?.customer?.id, firstName: 'Ada' },
    ])
  })
})

const ADDRESS = {
  firstName: 'Ada',
  streetAddress: '12 St James’s Square',
  locality: 'London',
  postalCode: 'SW1Y 4JH',
  countryCodeAlpha2: 'GB',
}

describe('the parameters that the Braintree sandbox stores or rejects', () => {
  it('include the addresses of a sale, by which sales can be found', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    const { transaction } = await sell(merchant, {
      amount: '10.00',
      paymentMethodToken: token,
      billing: ADDRESS,
      shipping: { ...ADDRESS, locality: 'Ockham' },
    })
    const found = await gateway.transaction.find(transaction?.id ?? '')
    expect(found.billing).toMatchObject(ADDRESS)
    expect(found.shipping).toMatchObject({ locality: 'Ockham' })
    const search = (locality: string) =>
      collect<braintree.Transaction>(
        gateway.transaction.search((query) => {
          query.shippingLocality().is(locality)
        }),
      )
    expect(await search('Ockham')).toHaveLength(1)
    expect(await search('London')).toHaveLength(0)
  })

  it('include the billing address of a card', async () => {
    const { gateway } = await startMerchant()
    const { customer } = await gateway.customer.create({
      creditCard: {
        number: '4111111111111111',
        expirationDate: '12/2030',
        billingAddress: ADDRESS,
      },
    } as never)
    expect(customer.creditCards?.[0]?.billingAddress).toMatchObject(ADDRESS)
    const token = customer.creditCards?.[0]?.token ?? ''
    const moved = { billingAddress: { ...ADDRESS, locality: 'Ockham' } }
    await gateway.paymentMethod.update(token, moved as never)
    const again = await gateway.customer.find(customer.id)
    expect(again.creditCards?.[0]?.billingAddress).toMatchObject({ locality: 'Ockham' })
    // The customer keeps both addresses; the card refers to the new one.
    expect(again.addresses).toMatchObject([ADDRESS, { locality: 'Ockham' }])
  })

  it('include a postal code and a name, which are rejected if they are too long', async () => {
    const merchant = await startMerchant()
    const { token } = await addCustomer(merchant)
    const refused = await sell(merchant, {
      amount: '10.00',
      paymentMethodToken: token,
      billing: { postalCode: '0123456789', firstName: 'x'.repeat(256) },
    })
    expect(codesOf(refused).sort()).toEqual(['81805', '81809'])
  })

  it('include the bank statement descriptor sent with a settlement or with a retried charge', async () => {
    const merchant = await startMerchant()
    const { gateway, trouble, clock } = merchant
    const { token, customerId } = await addCustomer(merchant)
    const descriptor = { name: 'abc*def', phone: '1234567890', url: 'example.com' }
    const { transaction } = await sell(merchant, {
      amount: '10.00',
      paymentMethodToken: token,
      options: {},
    })
    // The types lack the third argument.
    const transactions = gateway.transaction as unknown as {
      submitForSettlement(id: string, amount: string, details: object): Promise<unknown>
    }
    await transactions.submitForSettlement(transaction?.id ?? '', '10.00', { descriptor })
    const settled = await gateway.transaction.find(transaction?.id ?? '')
    expect(settled.descriptor).toMatchObject(descriptor)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    trouble.declineNextCharge(customerId, '2001')
    await clock.advance({ months: 1 })
    const paid = await sell(merchant, { subscriptionId: 's', descriptor })
    expect(paid.transaction?.descriptor).toMatchObject(descriptor)
  })

  it('include the merchant account for a verification, and an unknown one is rejected', async () => {
    const { gateway, sandbox } = await startMerchant()
    sandbox.defineMerchantAccount({ id: 'euros', currency: 'EUR' })
    const { customer } = await gateway.customer.create({})
    const verify = (verificationMerchantAccountId: string) =>
      gateway.paymentMethod.create({
        customerId: customer.id,
        paymentMethodNonce: 'fake-valid-visa-nonce',
        options: { verifyCard: true, verificationMerchantAccountId },
      })
    const made = await verify('euros')
    const card = made.paymentMethod as unknown as { verifications: object[] }
    expect(card.verifications).toMatchObject([{ merchantAccountId: 'euros' }])
    expect(codesOf(await verify('elsewhere'))).toEqual(['91728'])
  })

  it.each([
    ['industry', { industryType: 'lodging', data: { folioNumber: 'aaa' } }],
    ['exchangeRateQuoteId', 'quote'],
    ['installments', { count: 4 }],
  ])('include %s, which is rejected with an error that names the parameter', async (key, value) => {
    const merchant = await startMerchant()
    const { token } = await addCustomer(merchant)
    const request = { amount: '10.00', paymentMethodToken: token, [key]: value }
    const refused = await sell(merchant, request)
    expect(refused.success).toBe(false)
    expect(refused.message).toMatch(/^This sandbox does not imitate transaction\[\w+\]/)
    expect(merchant.sandbox.transactions()).toEqual([])
  })
})

describe('the Braintree API of the sandbox', () => {
  it("counts the billing cycles of a subscription's add-on, unless the add-on never expires", async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    sandbox.defineAddOn({ id: 'desks', amount: 100 })
    const { token } = await addCustomer(merchant)
    const [loose] = (await gateway.addOn.all()) as unknown as object[]
    expect(loose).toMatchObject({ id: 'seats', currentBillingCycle: null, quantity: null })
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    const add = [
      { inheritedFromId: 'seats', numberOfBillingCycles: 3, neverExpires: false },
      { inheritedFromId: 'desks' },
    ]
    await gateway.subscription.update('s', { addOns: { add } } as never)
    const attached = async () => (await gateway.subscription.find('s')).addOns
    const first = { currentBillingCycle: 0, kind: null, description: null }
    expect(await attached()).toMatchObject([first, first])
    await clock.advance({ months: 1 })
    // Cycles of an add-on that never expires are not counted.
    expect(await attached()).toMatchObject([
      { id: 'seats', currentBillingCycle: 1 },
      { id: 'desks', currentBillingCycle: 0 },
    ])
  })

  it.each([
    [{ transactionSource: 'recurring' }, true],
    [{ transactionSource: 'recurring_first' }, true],
    [{ recurring: true }, true],
    [{ transactionSource: 'unscheduled' }, false],
    [{}, false],
  ])(
    'returns a sale with the parameters %j with the `recurring` field set to %s',
    async (given, recurring) => {
      const merchant = await startMerchant()
      const { token } = await addCustomer(merchant)
      const sold = await sell(merchant, { amount: '10.00', paymentMethodToken: token, ...given })
      expect(sold.transaction?.recurring).toBe(recurring)
      // The duplicate check applies regardless of the source.
      const twice = await sell(merchant, { amount: '10.00', paymentMethodToken: token, ...given })
      expect(twice.transaction?.gatewayRejectionReason).toBe('duplicate')
    },
  )

  it("makes the payment method in defaultPaymentMethodToken the customer's default", async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { customerId } = await addCustomer(merchant)
    const stranger = await addCustomer(merchant)
    const { paymentMethod } = await gateway.paymentMethod.create({
      customerId,
      paymentMethodNonce: 'fake-valid-mastercard-nonce',
    })
    const prefer = (defaultPaymentMethodToken: string) =>
      gateway.customer.update(customerId, { defaultPaymentMethodToken } as never)
    expect((await prefer(paymentMethod.token)).success).toBe(true)
    const customer = await gateway.customer.find(customerId)
    const defaults = customer.creditCards?.filter((method) => method.default) ?? []
    expect(defaults.map(({ token }) => token)).toEqual([paymentMethod.token])
    expect(codesOf(await prefer(stranger.token))).toEqual(['91518'])
  })

  it("accepts the API's names of payment instrument types in transaction searches", async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const card = await addCustomer(merchant)
    const paypal = await addCustomer(merchant, 'fake-paypal-billing-agreement-nonce')
    for (const { token } of [card, paypal]) {
      await sell(merchant, { amount: '10.00', paymentMethodToken: token })
    }
    const search = async (type: string) => {
      const found = await collect<braintree.Transaction>(
        gateway.transaction.search((query) => {
          query.paymentInstrumentType().in([type] as never)
        }),
      )
      return found.map(({ paymentInstrumentType }) => paymentInstrumentType)
    }
    expect(await search('CreditCardDetail')).toEqual(['credit_card'])
    expect(await search('PayPalDetail')).toEqual(['paypal_account'])
    expect(await search('paypal_account')).toEqual(['paypal_account'])
  })

  it.each([
    ['invalid', '81716', 'Credit card number must be 12-19 digits.'],
    ['invalid card number', '81715', 'Credit card number is invalid.'],
  ])('reports a single error for the card number "%s"', async (number, code, message) => {
    const { gateway } = await startMerchant()
    const { customer } = await gateway.customer.create({})
    const card = { customerId: customer.id, number, expirationDate: '12/2030' }
    const refused = (await gateway.creditCard.create(card)) as unknown as Refusal
    expect(codesOf(refused)).toEqual([code])
    expect(refused.message).toBe(message)
  })
})
