import { describe, expect, it } from 'vitest'
import { addCustomer, codesOf, type Merchant, startMerchant } from './support.ts'

const CARD = { number: '4111111111111111', expirationDate: '12/2030' }
const ITEM = { name: 'Tea', kind: 'debit', quantity: '2', unitAmount: '2.50', totalAmount: '5.00' }

/** @types/braintree declares only some of these. */
interface Sold {
  readonly id: string
  readonly status: string
  readonly amount: string
  readonly type: string
  readonly orderId: string | null
  readonly partialSettlementTransactionIds: string[]
  readonly authorizedTransactionId: string | null
  readonly authorizationAdjustments: Array<{ amount: string; success: boolean }>
}

interface Result {
  readonly success: boolean
  readonly transaction: Sold
}

interface MoreCalls {
  sale(params: object): Promise<Result>
  credit(params: object): Promise<Result>
  find(id: string): Promise<Sold>
  submitForSettlement(id: string, amount?: string | null, params?: object): Promise<Result>
  submitForPartialSettlement(id: string, amount: string, params?: object): Promise<Result>
  updateDetails(id: string, params: object): Promise<Result>
  adjustAuthorization(id: string, amount: string): Promise<Result>
  cloneTransaction(id: string, params: object): Promise<Result>
  void(id: string): Promise<Result>
}

function calls({ gateway }: Merchant): MoreCalls {
  return gateway.transaction as unknown as MoreCalls
}

async function sell(merchant: Merchant, params: object = {}): Promise<Sold> {
  const result = await calls(merchant).sale({ amount: '10.00', creditCard: CARD, ...params })
  expect(codesOf(result)).toEqual([])
  return result.transaction
}

async function refusedSale(merchant: Merchant, params: object): Promise<string[]> {
  const sale = { amount: '10.00', creditCard: CARD, ...params }
  return codesOf(await calls(merchant).sale(sale))
}

async function lineItemsOf({ gateway }: Merchant, id: string): Promise<object[]> {
  const { transactionLineItem } = gateway as unknown as {
    transactionLineItem: { findAll(id: string): Promise<object[]> }
  }
  return transactionLineItem.findAll(id)
}

describe('the line items of a Braintree sale', () => {
  it('are stored with a sale and returned with two decimals in amounts, and with quantities as they were sent', async () => {
    const merchant = await startMerchant()
    const credit = { ...ITEM, name: 'Cup', kind: 'credit', quantity: '1.5', taxAmount: '0.1' }
    const { id } = await sell(merchant, {
      lineItems: [{ ...ITEM, upcCode: '12345', upcType: 'UPC-A', unitOfMeasure: 'pound' }, credit],
    })
    expect(await lineItemsOf(merchant, id)).toEqual([
      expect.objectContaining({ ...ITEM, upcType: 'UPC-A', taxAmount: null, description: null }),
      expect.objectContaining({ name: 'Cup', kind: 'credit', quantity: '1.5', taxAmount: '0.10' }),
    ])
    const { id: without } = await sell(merchant, { orderId: 'no items' })
    expect(await lineItemsOf(merchant, without)).toEqual([])
  })

  it.each([
    [{ name: undefined }, '95822'],
    [{ name: 'x'.repeat(36) }, '95823'],
    [{ kind: undefined }, '95808'],
    [{ kind: 'loan' }, '95807'],
    [{ quantity: undefined }, '95811'],
    [{ quantity: '1,2' }, '95810'],
    [{ quantity: '2147483648' }, '95812'],
    [{ unitAmount: undefined }, '95818'],
    [{ unitAmount: '1.23456' }, '95817'],
    [{ unitAmount: '2147483648' }, '95819'],
    [{ unitAmount: '-2' }, '95820'],
    [{ totalAmount: undefined }, '95814'],
    [{ totalAmount: '$5' }, '95813'],
    [{ totalAmount: '2147483648' }, '95815'],
    [{ totalAmount: '-2' }, '95816'],
    [{ unitTaxAmount: '2.012' }, '95824'],
    [{ unitTaxAmount: '2147483648' }, '95825'],
    [{ unitTaxAmount: '-1' }, '95826'],
    [{ discountAmount: '$1' }, '95804'],
    [{ discountAmount: '2147483648' }, '95805'],
    [{ discountAmount: '-1' }, '95806'],
    [{ taxAmount: 'x' }, '95827'],
    [{ taxAmount: '2147483648' }, '95828'],
    [{ taxAmount: '-1' }, '95829'],
    [{ unitOfMeasure: 'x'.repeat(13) }, '95821'],
    [{ productCode: 'x'.repeat(13) }, '95809'],
    [{ commodityCode: 'x'.repeat(13) }, '95801'],
    [{ description: 'x'.repeat(128) }, '95803'],
    [{ upcType: 'UPC-A' }, '95830'],
    [{ upcCode: 'x'.repeat(18), upcType: 'UPC-A' }, '95831'],
    [{ upcCode: '12345' }, '95832'],
    [{ upcCode: '12345', upcType: 'USB-A' }, '95833'],
  ])('are rejected if they are %o, with the error code %s', async (wrong, code) => {
    const merchant = await startMerchant()
    const refused = (await calls(merchant).sale({
      amount: '10.00',
      creditCard: CARD,
      lineItems: [ITEM, { ...ITEM, ...wrong }],
    })) as unknown as {
      errors: { for(name: string): { for(name: string): { forIndex(at: number): unknown } } }
    }
    expect(codesOf(refused)).toEqual([code])
    expect(refused.errors.for('transaction').for('lineItems').forIndex(1)).toBeTruthy()
  })

  it('must be a list of at most 249 items', async () => {
    const merchant = await startMerchant()
    expect(await refusedSale(merchant, { lineItems: ITEM })).toEqual(['915158'])
    const items = Array.from({ length: 250 }, () => ITEM)
    expect(await refusedSale(merchant, { lineItems: items })).toEqual(['915157'])
    await sell(merchant, { lineItems: items.slice(1) })
  })
})

describe('the level 3 amounts of a Braintree sale', () => {
  it('are accepted with the sale or its settlement', async () => {
    const merchant = await startMerchant()
    const summary = {
      discountAmount: '1.00',
      shippingAmount: '2.00',
      shippingTaxAmount: '0.50',
      shipsFromPostalCode: '94107',
    }
    expect(await sell(merchant, summary)).toMatchObject(summary)
    const { id } = await sell(merchant, { orderId: 'later' })
    const later = { ...summary, taxAmount: '1.34', taxExempt: true, lineItems: [ITEM] }
    const { transaction } = await calls(merchant).submitForSettlement(id, null, later)
    const { lineItems: _, ...shown } = later
    expect(transaction).toMatchObject({ ...shown, amount: '10.00' })
    expect(await lineItemsOf(merchant, id)).toHaveLength(1)
  })

  it.each([
    [{ discountAmount: '1.234' }, '915159'],
    [{ discountAmount: '-1' }, '915160'],
    [{ discountAmount: '2147483647' }, '915161'],
    [{ shippingAmount: '1a' }, '915162'],
    [{ shippingAmount: '-1' }, '915163'],
    [{ shippingAmount: '2147483647' }, '915164'],
    [{ shipsFromPostalCode: '12345678901' }, '915165'],
    [{ shipsFromPostalCode: '1$3' }, '915167'],
  ])('are rejected if they are %o, with the error code %s', async (given, code) => {
    expect(await refusedSale(await startMerchant(), given)).toEqual([code])
  })
})

describe('a partial settlement of a Braintree sale', () => {
  it('creates a sale for each part, up to the authorized amount', async () => {
    const merchant = await startMerchant()
    const { id } = await sell(merchant)
    const parts = calls(merchant)
    const first = await parts.submitForPartialSettlement(id, '6.00', { orderId: 'part 1' })
    expect(first.transaction).toMatchObject({
      status: 'submitted_for_settlement',
      type: 'sale',
      amount: '6.00',
      orderId: 'part 1',
      authorizedTransactionId: id,
    })
    const tooMuch = await parts.submitForPartialSettlement(id, '4.01')
    expect(codesOf(tooMuch)).toEqual(['91522'])
    const second = await parts.submitForPartialSettlement(id, '4.00')
    expect(second.success).toBe(true)
    expect(codesOf(await parts.submitForPartialSettlement(id, '0.01'))).toEqual(['91522'])
    expect(await parts.find(id)).toMatchObject({
      status: 'settlement_pending',
      partialSettlementTransactionIds: [first.transaction.id, second.transaction.id],
    })
    await merchant.clock.advance({ days: 1 })
    expect(await parts.find(first.transaction.id)).toMatchObject({ status: 'settled' })
  })

  it('can settle the amount of a voided part again', async () => {
    const merchant = await startMerchant()
    const { id } = await sell(merchant)
    const parts = calls(merchant)
    const { transaction } = await parts.submitForPartialSettlement(id, '10.00')
    await parts.void(transaction.id)
    expect((await parts.submitForPartialSettlement(id, '10.00')).success).toBe(true)
  })

  it('does not contact the processor, so test amounts are not declined', async () => {
    const merchant = await startMerchant()
    const { id } = await sell(merchant, { amount: '5000.00' })
    const part = await calls(merchant).submitForPartialSettlement(id, '2000.00')
    expect(part.transaction).toMatchObject({ status: 'submitted_for_settlement' })
  })

  it('is rejected for a sale that is a part itself or already submitted, and returns the first part for a repeated apiRequestKey', async () => {
    const merchant = await startMerchant()
    const parts = calls(merchant)
    const submitted = await sell(merchant, { options: { submitForSettlement: true } })
    expect(codesOf(await parts.submitForPartialSettlement(submitted.id, '1.00'))).toEqual(['91507'])
    const { id } = await sell(merchant, { orderId: 'parts' })
    const key = { apiRequestKey: 'once' }
    const first = await parts.submitForPartialSettlement(id, '1.00', key)
    const again = await parts.submitForPartialSettlement(id, '1.00', key)
    expect(again.transaction.id).toBe(first.transaction.id)
    const ofPart = await parts.submitForPartialSettlement(first.transaction.id, '0.50')
    expect(codesOf(ofPart)).toEqual(['915103'])
  })
})

describe('a Braintree credit without a sale', () => {
  it('is rejected unless the merchant has the permission for credits, and pays money to the card', async () => {
    const merchant = await startMerchant()
    const credit = { amount: '5.00', creditCard: CARD }
    expect(codesOf(await calls(merchant).credit({ ...credit }))).toEqual(['91546'])
    merchant.sandbox.changeSettings({ credits: true })
    const { transaction } = await calls(merchant).credit({ ...credit })
    expect(transaction).toMatchObject({ type: 'credit', amount: '5.00' })
    expect(transaction.status).toBe('submitted_for_settlement')
    const declined = await calls(merchant).credit({ ...credit, amount: '2004.00' })
    expect(declined.success).toBe(false)
  })
})

describe('a clone of a Braintree sale', () => {
  it('repeats the sale with another amount', async () => {
    const merchant = await startMerchant()
    const { id } = await sell(merchant, { orderId: 'first', descriptor: { name: 'abc*def' } })
    const { transaction } = await calls(merchant).cloneTransaction(id, {
      amount: '7.00',
      channel: 'shop',
      options: { submitForSettlement: true },
    })
    expect(transaction).toMatchObject({
      amount: '7.00',
      channel: 'shop',
      orderId: 'first',
      status: 'submitted_for_settlement',
      creditCard: { maskedNumber: '411111******1111' },
    })
    expect(transaction.id).not.toBe(id)
  })

  it('is rejected for a credit, for a sale with a stored card, for a declined sale, and without a submit option', async () => {
    const merchant = await startMerchant()
    merchant.sandbox.changeSettings({ credits: true })
    const again = { amount: '7.00', options: { submitForSettlement: false } }
    const clone = async (id: string, params: object = again) =>
      codesOf(await calls(merchant).cloneTransaction(id, params))
    const credited = await calls(merchant).credit({ amount: '5.00', creditCard: CARD })
    expect(await clone(credited.transaction.id)).toEqual(['91543'])
    const { token } = await addCustomer(merchant)
    const stored = await sell(merchant, { creditCard: undefined, paymentMethodToken: token })
    expect(await clone(stored.id)).toEqual(['91540'])
    const declined = await calls(merchant).sale({ amount: '2000.00', creditCard: CARD })
    expect(await clone(declined.transaction.id)).toEqual(['91542'])
    const { id } = await sell(merchant, { orderId: 'good' })
    expect(await clone(id, { amount: '7.00' })).toEqual(['91544'])
  })
})

describe('a Braintree sale that was submitted but is not settled', () => {
  it('can change to a smaller amount, another order id and another descriptor', async () => {
    const merchant = await startMerchant()
    const { id } = await sell(merchant, { options: { submitForSettlement: true } })
    const update = (params: object) => calls(merchant).updateDetails(id, params)
    const { transaction } = await update({
      amount: '8.00',
      orderId: 'changed',
      descriptor: { name: 'abc*def', phone: '1234567890', url: 'shop.test' },
    })
    expect(transaction).toMatchObject({
      amount: '8.00',
      orderId: 'changed',
      status: 'submitted_for_settlement',
      descriptor: { name: 'abc*def' },
    })
    expect(codesOf(await update({ amount: '10.01' }))).toEqual(['91522'])
    expect(codesOf(await update({ orderId: 'x'.repeat(256) }))).toEqual(['91501'])
    const waiting = await sell(merchant, { orderId: 'authorized' })
    expect(codesOf(await calls(merchant).updateDetails(waiting.id, {}))).toEqual(['915129'])
  })

  it('cannot change if the merchant account does not support it', async () => {
    const merchant = await startMerchant()
    const account = { id: 'stiff', currency: 'USD', updatesDetails: false }
    merchant.sandbox.defineMerchantAccount(account)
    const options = { submitForSettlement: true }
    const { id } = await sell(merchant, { merchantAccountId: 'stiff', options })
    expect(codesOf(await calls(merchant).updateDetails(id, { amount: '1.00' }))).toEqual(['915130'])
  })
})

describe('a Braintree authorization', () => {
  async function startAdjustable() {
    const merchant = await startMerchant()
    const account = { id: 'flexible', currency: 'USD', adjustsAuthorizations: true }
    merchant.sandbox.defineMerchantAccount(account)
    return merchant
  }

  it('can be raised and lowered, and lists these adjustments', async () => {
    const merchant = await startAdjustable()
    const { id } = await sell(merchant, { merchantAccountId: 'flexible' })
    const adjust = calls(merchant).adjustAuthorization.bind(calls(merchant))
    expect((await adjust(id, '15.00')).transaction.amount).toBe('15.00')
    expect((await adjust(id, '12.00')).transaction.amount).toBe('12.00')
    expect((await calls(merchant).find(id)).authorizationAdjustments).toMatchObject([
      { amount: '5.00', success: true },
      { amount: '-3.00', success: true },
    ])
    const submitted = await calls(merchant).submitForSettlement(id, '12.00')
    expect(submitted.success).toBe(true)
  })

  it('stays unchanged if the adjustment is declined', async () => {
    const merchant = await startAdjustable()
    const { id } = await sell(merchant, { merchantAccountId: 'flexible' })
    const refuse = async (given: string, amount: string) => {
      const refused = await calls(merchant).adjustAuthorization(given, amount)
      return [refused.transaction.amount, ...codesOf(refused)]
    }
    expect(await refuse(id, '0.00')).toEqual(['10.00', '81531'])
    expect(await refuse(id, '10.00')).toEqual(['10.00', '95606'])
    const elsewhere = await sell(merchant, { orderId: 'elsewhere' })
    expect(await refuse(elsewhere.id, '11.00')).toEqual(['10.00', '915222'])
    const recurring = { merchantAccountId: 'flexible', transactionSource: 'recurring' }
    const often = await sell(merchant, { ...recurring, orderId: 'often' })
    expect(await refuse(often.id, '11.00')).toEqual(['10.00', '915219'])
    const adjusted = await calls(merchant).adjustAuthorization(id, '2000.00')
    expect(adjusted.transaction).toMatchObject({
      amount: '10.00',
      authorizationAdjustments: [{ success: false }],
    })
  })
})

describe('a Braintree sale that stores its card in the vault', () => {
  it('creates the customer and card with the given ids, and stores both addresses', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    await sell(merchant, {
      creditCard: { ...CARD, token: 'tok' },
      customer: { id: 'ada', firstName: 'Ada' },
      billing: { postalCode: '94107', countryName: 'US' },
      shipping: { postalCode: '10001', shippingMethod: 'ground' },
      options: {
        storeInVaultOnSuccess: true,
        addBillingAddressToPaymentMethod: true,
        storeShippingAddressInVault: true,
      },
    })
    const customer = await gateway.customer.find('ada')
    expect(customer).toMatchObject({
      firstName: 'Ada',
      creditCards: [{ token: 'tok', billingAddress: { postalCode: '94107' } }],
    })
    const postalCodes = (customer.addresses ?? []).map(({ postalCode }) => postalCode)
    expect(postalCodes).toEqual(['94107', '10001'])
  })

  it('is rejected if an id or token is taken, and stores nothing if it is declined', async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox } = merchant
    await gateway.customer.create({ id: 'ada', creditCard: { ...CARD, token: 'tok' } } as never)
    const stored = { options: { storeInVault: true } }
    expect(await refusedSale(merchant, { ...stored, customer: { id: 'ada' } })).toEqual(['91609'])
    const taken = { ...stored, creditCard: { ...CARD, token: 'tok' } }
    expect(await refusedSale(merchant, taken)).toEqual(['91719'])
    const options = { storeInVaultOnSuccess: true }
    const declined = { amount: '2000.00', customer: { id: 'bob' }, options }
    await calls(merchant).sale({ creditCard: CARD, ...declined })
    expect(sandbox.customer('bob')).toBeNull()
  })
})

it("the Braintree sandbox uses the subscription's merchant account for a retried charge", async () => {
  const merchant = await startMerchant()
  const { gateway, sandbox, clock, trouble } = merchant
  sandbox.defineMerchantAccount({ id: 'elsewhere', currency: 'USD' })
  const { token, customerId } = await addCustomer(merchant)
  await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
  trouble.declineNextCharge(customerId, '2001')
  await clock.advance({ months: 1 })
  const pay = (merchantAccountId: string) =>
    calls(merchant).sale({ amount: '10.00', subscriptionId: 's', merchantAccountId })
  expect(codesOf(await pay('elsewhere'))).toEqual(['915180'])
  expect((await pay('sandbox_usd')).success).toBe(true)
})

describe('other parameters of a Braintree sale', () => {
  it.each([
    [{ shipping: { shippingMethod: 'urgent' } }, '915203'],
    [{ shipping: { phoneNumber: '12=34' } }, '915204'],
    [{ billing: { phoneNumber: '12=34' } }, '915206'],
    [{ customer: { internationalPhone: { countryCode: '1111' } } }, '91625'],
    [{ customer: { internationalPhone: { nationalNumber: '1234567890123' } } }, '91626'],
    [{ externalVault: { status: 'elsewhere' } }, '915175'],
    [
      { externalVault: { status: 'will_vault', previousNetworkTransactionId: '123456789' } },
      '915177',
    ],
    [{ productSku: 'sku!' }, '915202'],
    [{ processingMerchantCategoryCode: '541A' }, '915265'],
    [{ scaExemption: 'because' }, '915213'],
    [{ riskData: { customerDeviceId: 'x'.repeat(129) } }, '94702'],
    [{ riskData: { customerLocationZip: '1$2' } }, '94703'],
    [{ options: { creditCard: { accountType: 'ach' } } }, '915184'],
    [{ options: { creditCard: { accountType: 'credit' } } }, '915185'],
  ])('are rejected if they are %o, with the error code %s', async (given, code) => {
    expect(await refusedSale(await startMerchant(), given)).toEqual([code])
  })

  it('accept the PayPal payee in any of three places', async () => {
    const merchant = await startMerchant()
    const paypal = { creditCard: undefined, paymentMethodNonce: 'fake-paypal-one-time-nonce' }
    const places = [
      { paypalAccount: { payeeEmail: 'shop@example.com' } },
      { options: { payeeEmail: 'shop@example.com' } },
      { options: { paypal: { payeeEmail: 'shop@example.com' } } },
    ]
    for (const [at, place] of places.entries()) {
      const sold = await sell(merchant, { ...paypal, ...place, orderId: `${at}` })
      expect(sold).toMatchObject({ paypalAccount: { payeeEmail: 'shop@example.com' } })
    }
  })

  it('return the decision of fraud protection if the merchant has fraud protection, unless the call skips it', async () => {
    const merchant = await startMerchant()
    merchant.sandbox.changeSettings({ fraudProtection: true })
    expect(await sell(merchant)).toMatchObject({ riskData: { decision: 'Approve' } })
    const skipped = await sell(merchant, {
      orderId: 'trusted',
      options: { skipAdvancedFraudChecking: true },
    })
    expect(skipped).not.toHaveProperty('riskData')
    const risky = { amount: '10.00', creditCard: { ...CARD, number: '4111130000000003' } }
    expect((await calls(merchant).sale(risky)).transaction).toMatchObject({
      status: 'gateway_rejected',
      gatewayRejectionReason: 'risk_threshold',
    })
  })

  it("allow a partial authorization, and return Mastercard's advice for a decline", async () => {
    const merchant = await startMerchant()
    const partly = { amount: '1004.00', acceptPartialAuthorization: true }
    expect(await sell(merchant, partly)).toMatchObject({
      processorResponseCode: '1004',
      partiallyAuthorized: true,
    })
    expect(await sell(merchant, { amount: '1004.00', orderId: 'whole' })).toMatchObject({
      processorResponseCode: '1000',
      partiallyAuthorized: false,
    })
    const masterCard = { ...CARD, number: '5555555555554444' }
    const declined = await calls(merchant).sale({ amount: '2000.00', creditCard: masterCard })
    expect(declined.transaction).toMatchObject({ merchantAdviceCode: '01' })
    expect(await sell(merchant, { surchargeAmount: '1.00' })).toMatchObject({
      surchargeAmount: '1.00',
    })
  })

  it('return properties of the card that depend on its number', async () => {
    const merchant = await startMerchant()
    const debit = await sell(merchant, { creditCard: { ...CARD, number: '4117101010101010' } })
    expect(debit).toMatchObject({ creditCard: { debit: 'Yes', prepaid: 'Unknown' } })
    const none = await sell(merchant, {
      creditCard: undefined,
      paymentMethodNonce: 'fake-valid-no-indicators-nonce',
    })
    expect(none).toMatchObject({ creditCard: { debit: 'No', payroll: 'No', productId: 'MSB' } })
  })
})
