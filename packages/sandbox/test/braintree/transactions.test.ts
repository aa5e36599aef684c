import { describe, expect, it } from 'vitest'
import { addCustomer, codesOf, collect, startMerchant } from './support.ts'

describe('test amounts and nonces of Braintree', () => {
  it.each([
    ['1000.00', 'authorized', '1000', 'Approved', null],
    ['2000.00', 'processor_declined', '2000', 'Do Not Honor', 'soft_declined'],
    ['2001.50', 'processor_declined', '2001', 'Insufficient Funds', 'soft_declined'],
    ['2015.00', 'processor_declined', '2015', 'Transaction Not Allowed', 'hard_declined'],
    ['2999.99', 'processor_declined', '2999', 'Processor Declined', 'soft_declined'],
    ['3000.00', 'failed', '3000', 'Processor Network Unavailable - Try Again', 'soft_declined'],
    ['3001.00', 'authorized', '1000', 'Approved', null],
    ['1999.99', 'authorized', '1000', 'Approved', null],
  ])('give a sale of the amount %s the status %s', async (amount, status, code, text, type) => {
    const merchant = await startMerchant()
    const { token } = await addCustomer(merchant)
    const result = await merchant.gateway.transaction.sale({ amount, paymentMethodToken: token })
    expect(result.success).toBe(type === null)
    expect(result.transaction).toMatchObject({
      status,
      processorResponseCode: code,
      processorResponseText: text,
      processorResponseType: type ?? 'approved',
    })
    if (type) expect((result as unknown as { message: string }).message).toBe(text)
  })

  it.each([
    ['fake-gateway-rejected-fraud-nonce', 'gateway_rejected', 'fraud'],
    ['fake-gateway-rejected-risk-thresholds-nonce', 'gateway_rejected', 'risk_threshold'],
  ])('give a sale with the nonce %s the status %s', async (nonce, status, reason) => {
    const { gateway } = await startMerchant()
    const result = await gateway.transaction.sale({ amount: '5.00', paymentMethodNonce: nonce })
    expect(result.success).toBe(false)
    expect(result.transaction).toMatchObject({ status, gatewayRejectionReason: reason })
    expect(codesOf(result)).toEqual([])
  })

  it('create no customer if the verification fails', async () => {
    const { gateway, sandbox } = await startMerchant()
    const result = (await gateway.customer.create({
      paymentMethodNonce: 'fake-processor-declined-visa-nonce',
      creditCard: { options: { verifyCard: true } },
    } as never)) as unknown as { success: boolean; verification: { status: string } }
    expect(result).toMatchObject({
      success: false,
      message: 'Do Not Honor',
      verification: { status: 'processor_declined', processorResponseCode: '2000' },
    })
    expect(sandbox.customers()).toEqual([])
  })

  it('leave a transaction, but no subscription, if the first charge is declined', async () => {
    const merchant = await startMerchant()
    const { token, customerId } = await addCustomer(merchant)
    const result = await merchant.gateway.subscription.create({
      id: 's',
      planId: 'monthly',
      price: '2000.00',
      paymentMethodToken: token,
    })
    expect(result).toMatchObject({ success: false, message: 'Do Not Honor' })
    expect(merchant.sandbox.subscription('s')).toBeNull()
    expect(merchant.sandbox.transactions(customerId)).toMatchObject([
      { status: 'processor_declined', subscriptionId: null },
    ])
  })

  it('can be replaced by a simulated decline, which affects only the next charge of one customer', async () => {
    const merchant = await startMerchant()
    const { gateway, trouble } = merchant
    const ada = await addCustomer(merchant)
    const bob = await addCustomer(merchant)
    trouble.declineNextCharge(ada.customerId, '2046')
    const sale = async (token: string, amount: string) =>
      (await gateway.transaction.sale({ amount, paymentMethodToken: token })).transaction.status
    expect(await sale(bob.token, '1.00')).toBe('authorized')
    expect(await sale(ada.token, '1.00')).toBe('processor_declined')
    expect(await sale(ada.token, '1.00')).toBe('authorized')
  })
})

describe('payment method nonces of Braintree', () => {
  it('can be used only once', async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox } = merchant
    const { customerId, token } = await addCustomer(merchant)
    const { paymentMethodNonce } = await gateway.paymentMethodNonce.create(token)
    const { nonce } = paymentMethodNonce
    const first = await gateway.transaction.sale({ amount: '1.00', paymentMethodNonce: nonce })
    expect(first.transaction).toMatchObject({ status: 'authorized', creditCard: { token } })
    const again = await gateway.transaction.sale({ amount: '2.00', paymentMethodNonce: nonce })
    expect(codesOf(again)).toEqual(['91564'])
    const typed = sandbox.createNonce({ number: '5555555555554444', customerId })
    const vaulted = await gateway.paymentMethod.create({ customerId, paymentMethodNonce: typed })
    expect(vaulted.paymentMethod).toMatchObject({ cardType: 'MasterCard' })
    const twice = await gateway.paymentMethod.create({ customerId, paymentMethodNonce: typed })
    expect(codesOf(twice)).toEqual(['93107'])
  })

  it('remain usable after a rejected call', async () => {
    const { gateway, sandbox } = await startMerchant()
    const nonce = sandbox.createNonce()
    const refused = await gateway.transaction.sale({ amount: 'x', paymentMethodNonce: nonce })
    expect(codesOf(refused)).toEqual(['81503'])
    const sale = await gateway.transaction.sale({ amount: '1.00', paymentMethodNonce: nonce })
    expect(sale.success).toBe(true)
  })

  it('can be used in subscription.create only if they were created for a customer', async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox } = merchant
    const { customerId } = await addCustomer(merchant)
    const create = (paymentMethodNonce: string) =>
      gateway.subscription.create({ planId: 'monthly', paymentMethodNonce } as never)
    const made = await create(sandbox.createNonce({ customerId }))
    expect(made.success).toBe(true)
    expect(sandbox.paymentMethods(customerId)).toHaveLength(2)
    expect(codesOf(await create('fake-valid-nonce'))).toEqual(['91925'])
  })
})

describe("Braintree's check for duplicate sales", () => {
  it('rejects a sale with the same amount, card and order id within 30 seconds', async () => {
    const merchant = await startMerchant()
    const { gateway, clock } = merchant
    const { token } = await addCustomer(merchant)
    const sale = (extra = {}) =>
      gateway.transaction.sale({ amount: '9.00', paymentMethodToken: token, ...extra })
    expect((await sale()).success).toBe(true)
    const second = await sale()
    expect(second).toMatchObject({ success: false, message: 'Gateway Rejected: duplicate' })
    expect(second.transaction).toMatchObject({
      status: 'gateway_rejected',
      gatewayRejectionReason: 'duplicate',
    })
    expect((await sale({ orderId: 'other' })).success).toBe(true)
    await clock.advance({ seconds: 31 })
    expect((await sale()).success).toBe(true)
  })

  it('does not count declined sales, and can be disabled by a setting', async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox, trouble } = merchant
    const { token, customerId } = await addCustomer(merchant)
    const sale = () => gateway.transaction.sale({ amount: '9.00', paymentMethodToken: token })
    trouble.declineNextCharge(customerId, '2000')
    expect((await sale()).success).toBe(false)
    expect((await sale()).success).toBe(true)
    sandbox.changeSettings({ duplicateWindowSeconds: 0 })
    expect((await sale()).success).toBe(true)
  })
})

describe('apiRequestKey, the idempotency key of Braintree,', () => {
  it('returns the first transaction for a repeated request, and is rejected for a different request', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    const sale = (amount: string, apiRequestKey = 'k1') =>
      gateway.transaction.sale({ amount, paymentMethodToken: token, apiRequestKey } as never)
    const first = await sale('5.00')
    const again = await sale('5.00')
    expect(again.transaction.id).toBe(first.transaction.id)
    expect(codesOf(await sale('6.00'))).toEqual(['915232'])
    expect((await sale('5.00', 'k2')).transaction.id).not.toBe(first.transaction.id)
    expect(codesOf(await sale('5.00', 'x'.repeat(256)))).toEqual(['915230'])
    expect(sandbox.transactions(customerId)).toHaveLength(2)
    await clock.advance({ days: 30 })
    expect((await sale('5.00')).transaction.id).not.toBe(first.transaction.id)
  })

  it('returns the first result for a repeated decline, void and refund', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    const decline = () =>
      gateway.transaction.sale({
        amount: '2000.00',
        paymentMethodToken: token,
        apiRequestKey: 'd',
      } as never)
    const declined = await decline()
    expect((await decline()).transaction.id).toBe(declined.transaction.id)
    const sale = await gateway.transaction.sale({
      amount: '8.00',
      paymentMethodToken: token,
      options: { submitForSettlement: true },
    })
    await gateway.testing.settle(sale.transaction.id)
    const refund = () =>
      gateway.transaction.refund(sale.transaction.id, { apiRequestKey: 'r' } as never)
    const refunded = await refund()
    expect((await refund()).transaction.id).toBe(refunded.transaction.id)
  })
})

describe('the settlement of a Braintree sale', () => {
  it('happens automatically within a day', async () => {
    const merchant = await startMerchant()
    const { gateway, clock } = merchant
    const { token } = await addCustomer(merchant)
    const { transaction } = await gateway.transaction.sale({
      amount: '5.00',
      paymentMethodToken: token,
      options: { submitForSettlement: true },
    })
    await clock.advance({ hours: 6 })
    expect((await gateway.transaction.find(transaction.id)).status).toBe('settling')
    await clock.advance({ hours: 6 })
    const settled = await gateway.transaction.find(transaction.id)
    expect(settled.status).toBe('settled')
    expect(
      settled.statusHistory?.map(({ timestamp, status }) => [String(timestamp), status]),
    ).toEqual([
      ['2026-01-15T10:00:00Z', 'authorized'],
      ['2026-01-15T10:00:00Z', 'submitted_for_settlement'],
      ['2026-01-15T16:00:00Z', 'settling'],
      ['2026-01-15T22:00:00Z', 'settled'],
    ])
  })

  it('fails for the test amount 4001.00, and does not happen for an unsubmitted authorization, which expires', async () => {
    const merchant = await startMerchant()
    const { gateway, clock } = merchant
    const { token } = await addCustomer(merchant)
    const held = await gateway.transaction.sale({ amount: '5.00', paymentMethodToken: token })
    const bad = await gateway.transaction.sale({
      amount: '4001.00',
      paymentMethodToken: token,
      options: { submitForSettlement: true },
    })
    await clock.advance({ days: 7 })
    expect((await gateway.transaction.find(held.transaction.id)).status).toBe(
      'authorization_expired',
    )
    expect((await gateway.transaction.find(bad.transaction.id)).status).toBe('settlement_declined')
  })

  it('allows refunds while settling, unless the merchant account does not', async () => {
    const merchant = await startMerchant()
    const { gateway, clock } = merchant
    const waits = { id: 'waits', currency: 'USD', refundsSettling: false }
    merchant.sandbox.defineMerchantAccount(waits)
    const { token } = await addCustomer(merchant)
    const sell = async (more: object) =>
      gateway.transaction.sale({
        amount: '10.00',
        paymentMethodToken: token,
        options: { submitForSettlement: true },
        ...more,
      })
    const { transaction: usual } = await sell({ orderId: 'usual' })
    const { transaction: slow } = await sell({ merchantAccountId: 'waits' })
    await clock.advance({ hours: 6 })
    expect((await gateway.transaction.find(slow.id)).status).toBe('settling')
    expect(codesOf(await gateway.transaction.refund(slow.id))).toEqual(['91574'])
    expect((await gateway.transaction.refund(usual.id, '4.00')).success).toBe(true)
    await clock.advance({ hours: 6 })
    expect((await gateway.transaction.refund(slow.id)).success).toBe(true)
  })

  it('allows partial refunds up to the paid amount', async () => {
    const merchant = await startMerchant()
    const { gateway, clock } = merchant
    const { token } = await addCustomer(merchant)
    const { transaction } = await gateway.transaction.sale({
      amount: '10.00',
      paymentMethodToken: token,
      options: { submitForSettlement: true },
    })
    const { id } = transaction
    expect(codesOf(await gateway.transaction.refund(id))).toEqual(['91506'])
    await clock.advance({ days: 1 })
    const first = await gateway.transaction.refund(id, '4.00')
    expect(codesOf(await gateway.transaction.refund(id, '6.01'))).toEqual(['91521'])
    expect((await gateway.transaction.refund(id)).transaction.amount).toBe('6.00')
    expect(codesOf(await gateway.transaction.refund(id))).toEqual(['91512'])
    expect(codesOf(await gateway.transaction.refund(first.transaction.id))).toEqual(['91505'])
    expect(codesOf(await gateway.transaction.void(id))).toEqual(['91504'])
    const refunds = await collect<{ amount: string; type: string }>(
      gateway.transaction.search((search) => {
        search.refund().is(true as never)
      }),
    )
    // The refunded sale is found as well.
    const found = refunds.map(({ amount, type }) => `${type} ${amount}`)
    expect(found).toEqual(['credit 6.00', 'credit 4.00', 'sale 10.00'])
  })

  it("can be moved to each status by the calls of Braintree's test gateway", async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    const testing = gateway.testing as unknown as Record<string, (id: string) => Promise<unknown>>
    const cases = [
      ['settlementPending', 'settlement_pending'],
      ['settlementConfirm', 'settlement_confirmed'],
      ['settlementDecline', 'settlement_declined'],
      ['settle', 'settled'],
    ] as const
    for (const [i, [method, status]] of cases.entries()) {
      const { transaction } = await gateway.transaction.sale({
        amount: `${i + 1}.00`,
        paymentMethodToken: token,
        options: { submitForSettlement: true },
      })
      await testing[method]?.(transaction.id)
      expect((await gateway.transaction.find(transaction.id)).status).toBe(status)
    }
    const held = await gateway.transaction.sale({ amount: '50.00', paymentMethodToken: token })
    expect(await testing.settle?.(held.transaction.id)).toHaveProperty('apiErrorResponse')
  })
})

describe('a Braintree sale', () => {
  it("charges a customer's default payment method, a PayPal account, or a card number", async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox } = merchant
    const { customerId, token } = await addCustomer(merchant)
    const byCustomer = await gateway.transaction.sale({ amount: '1.00', customerId } as never)
    expect(byCustomer.transaction.creditCard?.token).toBe(token)
    const byPayPal = await gateway.transaction.sale({
      amount: '1.00',
      paymentMethodNonce: 'fake-paypal-one-time-nonce',
    })
    expect(byPayPal.transaction).toMatchObject({
      paymentInstrumentType: 'paypal_account',
      paypalAccount: { payerEmail: 'jane.doe@paypal.com' },
    })
    const byNumber = await gateway.transaction.sale({
      amount: '1.00',
      creditCard: { number: '4111111111111111', expirationDate: '05/2030', cvv: '123' },
      customer: { firstName: 'Grace', email: 'grace@example.com' },
      options: { storeInVaultOnSuccess: true },
    } as never)
    const vaulted = byNumber.transaction.customer.id
    expect(sandbox.customer(vaulted)).toMatchObject({ firstName: 'Grace' })
    expect(sandbox.paymentMethods(vaulted)).toHaveLength(1)
  })
})
