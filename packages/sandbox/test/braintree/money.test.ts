import { describe, expect, it } from 'vitest'
import { addCustomer, codesOf, startMerchant } from './support.ts'

const PRORATE = { options: { prorateCharges: true } }

describe('proration at Braintree', () => {
  it('charges an upgrade immediately for the remaining days, including today', async () => {
    const merchant = await startMerchant({ now: '2026-04-01T10:00:00Z' })
    const { gateway, clock } = merchant
    const { token } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    await clock.advanceTo(new Date('2026-04-11T10:00:00Z'))
    const result = await gateway.subscription.update('s', {
      planId: 'pro',
      price: '20.00',
      ...PRORATE,
    })
    // (20.00 − 10.00) × 20 ÷ 30
    expect(result.subscription.transactions?.[0]).toMatchObject({ amount: '6.67' })
    expect(result.subscription).toMatchObject({ balance: '0.00', nextBillingDate: '2026-05-01' })
    await clock.advanceTo(new Date('2026-05-01T00:00:00Z'))
    const { transactions } = await gateway.subscription.find('s')
    expect(transactions?.map((row) => row.amount)).toEqual(['20.00', '6.67', '10.00'])
  })

  it('leaves a credit after a downgrade, which later cycles use up', async () => {
    const merchant = await startMerchant({ now: '2026-04-01T10:00:00Z' })
    const { gateway, clock, sandbox, outbox } = merchant
    const { token } = await addCustomer(merchant)
    await gateway.subscription.create({
      id: 's',
      planId: 'pro',
      price: '45.00',
      paymentMethodToken: token,
    })
    await clock.advanceTo(new Date('2026-04-11T10:00:00Z'))
    const result = await gateway.subscription.update('s', {
      planId: 'monthly',
      price: '10.00',
      ...PRORATE,
    })
    // (10.00 − 45.00) × 20 ÷ 30
    expect(result.subscription).toMatchObject({ balance: '-23.33', price: '10.00' })
    expect(result.subscription.transactions).toHaveLength(1)
    sandbox.registerWebhook('http://127.0.0.1:9/webhook')
    await clock.advanceTo(new Date('2026-05-01T00:00:00Z'))
    expect(await gateway.subscription.find('s')).toMatchObject({
      balance: '-13.33',
      status: 'Active',
      paidThroughDate: '2026-05-31',
      currentBillingCycle: 2,
    })
    await clock.advanceTo(new Date('2026-06-01T00:00:00Z'))
    await clock.advanceTo(new Date('2026-07-01T00:00:00Z'))
    const found = await gateway.subscription.find('s')
    expect(found.transactions?.map((row) => row.amount)).toEqual(['6.67', '45.00'])
    expect(found.balance).toBe('0.00')
    const kinds = outbox.deliveries().map((delivery) => delivery.eventType)
    expect(kinds).toEqual([
      'subscription_billing_skipped',
      'subscription_billing_skipped',
      'subscription_charged_successfully',
    ])
  })

  it('is off without prorate_charges: the new price is then charged from the next cycle on', async () => {
    const merchant = await startMerchant()
    const { gateway, clock } = merchant
    const { token } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    const result = await gateway.subscription.update('s', { planId: 'pro', price: '20.00' })
    expect(result.subscription.transactions).toHaveLength(1)
    expect(result.subscription.nextBillingPeriodAmount).toBe('20.00')
    await clock.advance({ months: 1 })
    expect((await gateway.subscription.find('s')).transactions?.[0]?.amount).toBe('20.00')
  })

  it('undoes a subscription update if its charge is declined, or keeps the update and the debt if the call says so', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    const reverted = (await gateway.subscription.update('s', {
      price: '2110.00',
      options: { prorateCharges: true, revertSubscriptionOnProrationFailure: true },
    })) as unknown as { success: boolean; message: string; transaction: { status: string } }
    expect(reverted).toMatchObject({
      success: false,
      message: 'Processor Declined',
      transaction: { status: 'processor_declined' },
      subscription: { price: '10.00', balance: '0.00' },
    })
    const kept = await gateway.subscription.update('s', {
      price: '2110.00',
      options: { prorateCharges: true, revertSubscriptionOnProrationFailure: false },
    })
    expect(kept).toMatchObject({
      success: true,
      subscription: { price: '2110.00', balance: '2100.00', status: 'Active' },
    })
    expect(kept.subscription.transactions).toHaveLength(3)
  })

  it('charges nothing if a discount is replaced by an equal discount', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    const discounts = { add: [{ inheritedFromId: 'loyal' }] }
    await gateway.subscription.create({
      id: 's',
      planId: 'monthly',
      paymentMethodToken: token,
      discounts,
    } as never)
    const result = await gateway.subscription.update('s', {
      discounts,
      options: { prorateCharges: true, replaceAllAddOnsAndDiscounts: true },
    } as never)
    expect(result.subscription).toMatchObject({ balance: '0.00' })
    expect(result.subscription.transactions).toHaveLength(1)
  })

  it('is off during a trial', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'trial', paymentMethodToken: token })
    const result = await gateway.subscription.update('s', { price: '50.00', ...PRORATE })
    expect(result.subscription).toMatchObject({ balance: '0.00', price: '50.00', transactions: [] })
  })

  it('charges a past due subscription again when its payment method is replaced', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    sandbox.failCharges(token, '2001')
    await clock.advance({ months: 1 })
    const added = await gateway.paymentMethod.create({
      customerId,
      paymentMethodNonce: 'fake-valid-mastercard-nonce',
    })
    const result = await gateway.subscription.update('s', {
      paymentMethodToken: added.paymentMethod.token,
      ...PRORATE,
    })
    expect(result.subscription).toMatchObject({ status: 'Active', balance: '0.00' })
  })
})

describe('discounts and add-ons of a Braintree subscription', () => {
  it('end after their number of billing cycles', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    await gateway.subscription.create({
      id: 's',
      planId: 'monthly',
      paymentMethodToken: token,
      discounts: { add: [{ inheritedFromId: 'spring' }, { inheritedFromId: 'loyal' }] },
    } as never)
    await clock.advance({ months: 3 })
    const amounts = sandbox.transactions(customerId).map((row) => row.amount)
    expect(amounts).toEqual([600, 600, 900, 900])
    const { discounts } = await gateway.subscription.find('s')
    expect(discounts).toMatchObject([
      { id: 'spring', currentBillingCycle: 2, numberOfBillingCycles: 2 },
      { id: 'loyal', currentBillingCycle: 0, neverExpires: true },
    ])
  })

  it('spread a large credit (a discount named plan-credit) over the billing cycles that it covers', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    const result = await gateway.subscription.create({
      id: 's',
      planId: 'monthly',
      paymentMethodToken: token,
      discounts: {
        add: [{ inheritedFromId: 'plan-credit', amount: '25.50', numberOfBillingCycles: 1 }],
      },
    } as never)
    expect(result.subscription).toMatchObject({ balance: '-15.50', status: 'Active' })
    expect(result.subscription.transactions).toEqual([])
    await clock.advance({ months: 3 })
    expect(sandbox.transactions(customerId).map((row) => row.amount)).toEqual([450, 1000])
  })

  it('make ten billing cycles free with a discount of the full price, as used after a swap from a yearly plan', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 'old', planId: 'yearly', paymentMethodToken: token })
    await gateway.subscription.create({
      id: 'new',
      planId: 'monthly',
      paymentMethodToken: token,
      discounts: {
        add: [{ inheritedFromId: 'plan-credit', amount: '10.00', numberOfBillingCycles: 10 }],
      },
    } as never)
    await gateway.subscription.cancel('old')
    await clock.advanceTo(new Date('2026-11-14T00:00:00Z'))
    const { discounts, balance, currentBillingCycle } = await gateway.subscription.find('new')
    expect({ balance, currentBillingCycle }).toEqual({ balance: '0.00', currentBillingCycle: 10 })
    expect(discounts).toMatchObject([{ currentBillingCycle: 10, numberOfBillingCycles: 10 }])
    await clock.advanceTo(new Date('2026-12-15T00:00:00Z'))
    const amounts = sandbox.transactions(customerId).map((row) => row.amount)
    expect(amounts).toEqual([10_000, 1000, 1000])
  })

  it('can be added, changed, removed and replaced by an update of the subscription', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { token } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    const update = async (changes: object) =>
      (await gateway.subscription.update('s', changes as never)).subscription
    expect(
      await update({
        addOns: { add: [{ inheritedFromId: 'seats' }] },
        discounts: { add: [{ inheritedFromId: 'loyal' }] },
      }),
    ).toMatchObject({ nextBillingPeriodAmount: '14.00' })
    expect(
      await update({
        addOns: { update: [{ existingId: 'seats', quantity: 3, amount: '4.00' }] },
        discounts: { remove: ['loyal'] },
      }),
    ).toMatchObject({ nextBillingPeriodAmount: '22.00', discounts: [] })
    expect(
      await update({
        discounts: { add: [{ inheritedFromId: 'spring', numberOfBillingCycles: 5 }] },
        options: { replaceAllAddOnsAndDiscounts: true },
      }),
    ).toMatchObject({ nextBillingPeriodAmount: '7.00', addOns: [] })
  })
})

describe('currencies at Braintree', () => {
  it.each([
    ['JPY', 1000, '1000', '50.00'],
    ['KWD', 1500, '1.500', '1.0001'],
    ['EUR', 1999, '19.99', '1.999'],
  ])('have their own number of decimals in amounts: %s', async (currency, price, text, wrong) => {
    const merchant = await startMerchant({ currency })
    const { gateway, sandbox } = merchant
    sandbox.definePlan({ id: 'local', price })
    const { token } = await addCustomer(merchant)
    const created = await gateway.subscription.create({
      planId: 'local',
      paymentMethodToken: token,
    })
    expect(created.subscription).toMatchObject({ price: text, nextBillingPeriodAmount: text })
    expect(created.subscription.transactions?.[0]).toMatchObject({
      amount: text,
      currencyIsoCode: currency,
    })
    const sale = await gateway.transaction.sale({ amount: wrong, paymentMethodToken: token })
    expect(codesOf(sale)).toEqual(['81503'])
  })
})
