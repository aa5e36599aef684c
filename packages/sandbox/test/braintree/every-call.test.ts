import { describe, expect, it } from 'vitest'
import { addCustomer, collect, listen, startMerchant } from './support.ts'

/** Missing from @types/braintree. */
interface SubscriptionSearch {
  planId(): { is(id: string): void }
  status(): { in(statuses: string[]): void }
}

describe('the official Braintree SDK, connected to the sandbox,', () => {
  it('gets a client token that contains the merchant id from clientToken.generate', async () => {
    const { gateway } = await startMerchant()
    const result = await gateway.clientToken.generate({})
    expect(result.success).toBe(true)
    const token = JSON.parse(Buffer.from(result.clientToken, 'base64').toString())
    expect(token).toMatchObject({ version: 2, merchantId: 'sandbox_merchant' })
  })

  it("stores the nonce's card by customer.create, and finds, changes and deletes it", async () => {
    const { gateway } = await startMerchant()
    const created = await gateway.customer.create({
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@example.com',
      paymentMethodNonce: 'fake-valid-visa-nonce',
      creditCard: { options: { verifyCard: true } },
    } as never)
    expect(created.success).toBe(true)
    const { id } = created.customer
    expect(created.customer).toMatchObject({
      firstName: 'Ada',
      email: 'ada@example.com',
      createdAt: '2026-01-15T10:00:00Z',
      paypalAccounts: [],
    })
    expect(created.customer.paymentMethods).toHaveLength(1)
    expect(created.customer.creditCards?.[0]).toMatchObject({
      bin: '401288',
      last4: '1881',
      cardType: 'Visa',
      maskedNumber: '401288******1881',
      expirationDate: '12/2030',
      default: true,
      customerId: id,
    })
    expect(created.customer.creditCards?.[0]?.verification).toMatchObject({ status: 'verified' })

    const updated = await gateway.customer.update(id, { lastName: 'King', email: 'ada@king.org' })
    expect(updated.customer).toMatchObject({ firstName: 'Ada', lastName: 'King' })
    expect((await gateway.customer.find(id)).email).toBe('ada@king.org')
    await gateway.customer.delete(id)
    await expect(gateway.customer.find(id)).rejects.toMatchObject({ type: 'notFoundError' })
  })

  it('stores a PayPal account with its billing agreement by customer.create', async () => {
    const { gateway } = await startMerchant()
    const { customer } = await gateway.customer.create({
      paymentMethodNonce: 'fake-paypal-billing-agreement-nonce',
    })
    expect(customer.paymentMethods?.[0]).toMatchObject({
      email: 'jane.doe@paypal.com',
      billingAgreementId: 'B-123456',
      default: true,
    })
    expect(customer.paymentMethods?.[0]?.constructor.name).toBe('PayPalAccount')
  })

  it('changes the vault by paymentMethod.create, find, update and delete', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { customerId, token } = await addCustomer(merchant)
    const created = await gateway.paymentMethod.create({
      customerId,
      paymentMethodNonce: 'fake-valid-mastercard-nonce',
      options: { makeDefault: true, verifyCard: true },
    })
    expect(created.success).toBe(true)
    const second = created.paymentMethod.token
    expect(created.paymentMethod).toMatchObject({ cardType: 'MasterCard', default: true })
    expect(await gateway.paymentMethod.find(token)).toMatchObject({ default: false })
    const updated = await gateway.paymentMethod.update(token, { options: { makeDefault: true } })
    expect(updated.success).toBe(true)
    expect(await gateway.paymentMethod.find(second)).toMatchObject({ default: false })
    await gateway.paymentMethod.delete(token)
    await expect(gateway.paymentMethod.find(token)).rejects.toMatchObject({ type: 'notFoundError' })
    expect(await gateway.paymentMethod.find(second)).toMatchObject({ default: true })
  })

  it('gets plans from plan.all and plan.find', async () => {
    const { gateway, sandbox } = await startMerchant()
    sandbox.definePlan({ id: 'bundle', price: 999, addOns: ['seats'], discounts: ['spring'] })
    const all = await gateway.plan.all()
    expect(all).toHaveLength(5)
    const plans = all as unknown as Array<Record<string, unknown>>
    expect(plans.find((plan) => plan.id === 'yearly')).toMatchObject({
      price: '100.00',
      billingFrequency: 12,
      numberOfBillingCycles: null,
      trialPeriod: false,
      trialDuration: null,
      currencyIsoCode: 'USD',
      addOns: [],
    })
    const found = await gateway.plan.find('bundle')
    expect(found).toMatchObject({
      addOns: [{ id: 'seats', amount: '5.00', neverExpires: true }],
      discounts: [{ id: 'spring', amount: '3.00', numberOfBillingCycles: 2 }],
    })
    await expect(gateway.plan.find('nope')).rejects.toMatchObject({ type: 'notFoundError' })
  })

  it('creates and changes a plan by plan.create and plan.update', async () => {
    const { gateway } = await startMerchant()
    const created = await gateway.plan.create({
      id: 'weekend',
      name: 'Weekend',
      price: '9.99',
      billingFrequency: 1,
      currencyIsoCode: 'USD',
    } as never)
    expect(created).toMatchObject({ success: true, plan: { id: 'weekend', price: '9.99' } })
    const updated = await gateway.plan.update('weekend', { price: '10.50' } as never)
    expect(updated).toMatchObject({ success: true, plan: { price: '10.50', name: 'Weekend' } })
  })

  it('gets all discounts and add-ons from discount.all and addOn.all', async () => {
    const { gateway } = await startMerchant()
    const discounts = (await gateway.discount.all()) as unknown as Array<{ id: string }>
    expect(discounts.map((discount) => discount.id)).toEqual(['plan-credit', 'spring', 'loyal'])
    const addOns = (await gateway.addOn.all()) as unknown as object[]
    // The SDK makes the list a property of itself, on which matchers recurse forever.
    expect([...addOns]).toMatchObject([{ id: 'seats', amount: '5.00', kind: 'add_on' }])
  })

  it('gets merchant accounts from merchantAccount.find and all', async () => {
    const { gateway, sandbox } = await startMerchant()
    sandbox.defineMerchantAccount({ id: 'euros', currency: 'EUR' })
    expect(await gateway.merchantAccount.find('euros')).toMatchObject({
      currencyIsoCode: 'EUR',
      default: false,
    })
    const all = (gateway.merchantAccount as unknown as { all(): NodeJS.ReadableStream }).all()
    expect(await collect(all)).toMatchObject([{ id: 'sandbox_usd' }, { id: 'euros' }])
  })

  it('can pass every parameter to subscription.create', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    const result = await gateway.subscription.create({
      id: 'main-1',
      planId: 'monthly',
      paymentMethodToken: token,
      price: '11.90',
      trialPeriod: false,
      numberOfBillingCycles: 12,
      merchantAccountId: 'sandbox_usd',
      descriptor: { name: 'abc*tollgate', phone: '3334445555', url: 'ebay.com' },
      discounts: {
        add: [{ inheritedFromId: 'plan-credit', amount: '2.00', numberOfBillingCycles: 3 }],
      },
      addOns: { add: [{ inheritedFromId: 'seats', quantity: 2 }] },
      options: { startImmediately: true },
    })
    expect(result.success).toBe(true)
    expect(result.subscription).toMatchObject({
      id: 'main-1',
      planId: 'monthly',
      price: '11.90',
      balance: '0.00',
      status: 'Active',
      paymentMethodToken: token,
      billingDayOfMonth: 15,
      billingPeriodStartDate: '2026-01-15',
      billingPeriodEndDate: '2026-02-14',
      paidThroughDate: '2026-02-14',
      firstBillingDate: '2026-01-15',
      nextBillingDate: '2026-02-15',
      nextBillingPeriodAmount: '19.90',
      currentBillingCycle: 1,
      numberOfBillingCycles: 12,
      neverExpires: false,
      failureCount: 0,
      daysPastDue: null,
      trialPeriod: false,
      trialDuration: null,
      descriptor: { name: 'abc*tollgate' },
      addOns: [{ id: 'seats', amount: '5.00', quantity: 2, neverExpires: true }],
      discounts: [
        {
          id: 'plan-credit',
          amount: '2.00',
          quantity: 1,
          numberOfBillingCycles: 3,
          currentBillingCycle: 1,
          neverExpires: false,
        },
      ],
    })
    const [transaction] = result.subscription.transactions ?? []
    expect(transaction).toMatchObject({
      amount: '19.90',
      status: 'submitted_for_settlement',
      type: 'sale',
      planId: 'monthly',
      subscriptionId: 'main-1',
      recurring: true,
      subscription: {
        billingPeriodStartDate: '2026-01-15',
        billingPeriodEndDate: '2026-02-14',
      },
      addOns: [{ id: 'seats' }],
      discounts: [{ id: 'plan-credit' }],
      customer: { email: 'ada@example.com' },
    })
  })

  it('finds, changes and cancels a subscription by subscription.find, update and cancel', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    const created = await gateway.subscription.create({
      planId: 'monthly',
      paymentMethodToken: token,
    })
    const { id } = created.subscription
    expect(id).toMatch(/^\w{6}$/)
    expect(await gateway.subscription.find(id)).toMatchObject({ status: 'Active' })
    const updated = await gateway.subscription.update(id, {
      planId: 'pro',
      price: '20.00',
      neverExpires: true,
      numberOfBillingCycles: null as never,
      options: { prorateCharges: true, revertSubscriptionOnProrationFailure: true },
    } as never)
    expect(updated.success).toBe(true)
    expect(updated.subscription).toMatchObject({ planId: 'pro', price: '20.00' })
    expect(updated.subscription.transactions?.[0]).toMatchObject({ amount: '10.00' })
    const cancelled = await gateway.subscription.cancel(id)
    expect(cancelled).toMatchObject({ success: true, subscription: { status: 'Canceled' } })
  })

  it('takes a sale from its authorization to a refund by transaction.sale, find, submitForSettlement, settle and refund', async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox } = merchant
    sandbox.changeSettings({ customFields: ['description', 'order_note'] })
    const { customerId, token } = await addCustomer(merchant)
    const sale = await gateway.transaction.sale({
      amount: '12.34',
      paymentMethodToken: token,
      orderId: 'order-1',
      customFields: { description: 'A & B <c>', orderNote: 'x' },
      transactionSource: 'unscheduled',
    })
    expect(sale.success).toBe(true)
    const { id } = sale.transaction
    expect(sale.transaction).toMatchObject({
      status: 'authorized',
      type: 'sale',
      amount: '12.34',
      currencyIsoCode: 'USD',
      orderId: 'order-1',
      customFields: { description: 'A & B <c>', orderNote: 'x' },
      processorResponseCode: '1000',
      processorResponseType: 'approved',
      gatewayRejectionReason: null,
      planId: null,
      refundIds: [],
      customer: { id: customerId },
    })
    expect(sale.transaction.creditCard).toMatchObject({ token, last4: '1881', cardType: 'Visa' })
    const submitted = await gateway.transaction.submitForSettlement(id, '10.00')
    expect(submitted.transaction).toMatchObject({
      status: 'submitted_for_settlement',
      amount: '10.00',
    })
    await gateway.testing.settle(id)
    expect(await gateway.transaction.find(id)).toMatchObject({ status: 'settled' })
    const refunded = await gateway.transaction.refund(id, '4.00')
    expect(refunded.transaction).toMatchObject({
      type: 'credit',
      amount: '4.00',
      refundedTransactionId: id,
    })
    expect((await gateway.transaction.find(id)).refundIds).toEqual([refunded.transaction.id])
  })

  it('voids an authorization by transaction.void', async () => {
    const merchant = await startMerchant()
    const { token } = await addCustomer(merchant)
    const sale = await merchant.gateway.transaction.sale({
      amount: '5.00',
      paymentMethodToken: token,
      options: { submitForSettlement: true },
    })
    const voided = await merchant.gateway.transaction.void(sale.transaction.id)
    expect(voided.transaction.status).toBe('voided')
    expect(voided.transaction.statusHistory?.map((event) => event.status)).toEqual([
      'authorized',
      'submitted_for_settlement',
      'voided',
    ])
  })

  it('pays a past due subscription by subscription.retryCharge', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, trouble, sandbox } = merchant
    const { customerId, token } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    trouble.declineNextCharge(customerId, '2001')
    await clock.advance({ months: 1 })
    expect(sandbox.subscription('s')).toMatchObject({ status: 'Past Due', balance: 1000 })
    const retried = await gateway.subscription.retryCharge('s', undefined as never, true as never)
    expect(retried).toMatchObject({
      success: true,
      transaction: { amount: '10.00', status: 'submitted_for_settlement', subscriptionId: 's' },
    })
    expect(await gateway.subscription.find('s')).toMatchObject({
      status: 'Active',
      balance: '0.00',
      daysPastDue: null,
      paidThroughDate: '2026-03-14',
    })
  })

  it('receives the matches of transaction.search and subscription.search as a stream, newest first', async () => {
    const merchant = await startMerchant()
    const { gateway, clock } = merchant
    const { customerId, token } = await addCustomer(merchant)
    const other = await addCustomer(merchant)
    for (let i = 0; i < 60; i++) {
      await gateway.transaction.sale({ amount: `${i + 1}.00`, paymentMethodToken: token })
    }
    await gateway.transaction.sale({ amount: '1.00', paymentMethodToken: other.token })
    const all = await collect<{ amount: string }>(
      gateway.transaction.search((search) => {
        search.customerId().is(customerId)
      }),
    )
    expect(all.map((found) => found.amount)).toEqual(
      Array.from({ length: 60 }, (_, i) => `${60 - i}.00`),
    )
    await clock.advance({ days: 1 })
    const none = await collect(
      gateway.transaction.search((search) => {
        search.customerId().is(customerId)
        search.createdAt().min(new Date('2026-01-16'))
      }),
    )
    expect(none).toEqual([])

    await gateway.subscription.create({ id: 'a', planId: 'monthly', paymentMethodToken: token })
    await gateway.subscription.create({ id: 'b', planId: 'trial', paymentMethodToken: token })
    const trials = await collect<{ id: string }>(
      gateway.subscription.search((search: SubscriptionSearch) => {
        search.planId().is('trial')
        search.status().in(['Active'])
      }),
    )
    expect(trials.map((found) => found.id)).toEqual(['b'])
  })

  it("can create a discount and make a subscription past due by the URLs of Braintree's test gateway", async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox } = merchant
    const { http, config } = gateway as unknown as {
      http: Record<'post' | 'put', (url: string, body: unknown) => Promise<unknown>>
      config: { baseMerchantPath(): string }
    }
    const base = config.baseMerchantPath()
    await http.post(`${base}/modifications/create_modification_for_tests`, {
      modification: { kind: 'discount', id: 'welcome', amount: '2.50', planId: 'monthly' },
    })
    const { token } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    expect(sandbox.transactions()).toMatchObject([{ amount: 750, discounts: [{ id: 'welcome' }] }])
    await http.put(`${base}/subscriptions/s/make_past_due?days_past_due=5`, null)
    expect(await gateway.subscription.find('s')).toMatchObject({
      status: 'Past Due',
      balance: '7.50',
      daysPastDue: 5,
    })
    expect(await gateway.subscription.retryCharge('s')).toMatchObject({
      success: true,
      transaction: { amount: '7.50', status: 'authorized' },
    })
  })

  it('answers the challenge that the sandbox sends to a webhook URL by webhookNotification.verify', async () => {
    const merchant = await startMerchant()
    const { url } = await listen(merchant)
    expect(await merchant.sandbox.verifyWebhook(url)).toBe(true)
    const stranger = await startMerchant({ privateKey: 'another' })
    expect(await stranger.sandbox.verifyWebhook(url)).toBe(false)
  })
})
