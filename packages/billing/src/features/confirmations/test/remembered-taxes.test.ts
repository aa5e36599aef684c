import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { START, start, stripeSdk } from '../../../../test/support.ts'
import { PaymentActionRequired, PaymentFailed } from '../../../index.ts'
import type { StartBillingOptions } from '../../../testing/index.ts'
import { updateAndPay } from '../stripe-pay-update.ts'
import { restorePreviousTaxes } from '../stripe-pending-update.ts'

const CHALLENGED = 'pm_card_authenticationRequired'

/**
 * Starts a test with a subscription to this price, a card that requires authentication, and helpers
 * that read Stripe's taxes.
 */
async function startChallenged({
  price = 'monthly',
  ...options
}: StartBillingOptions & { readonly price?: string } = {}) {
  const warnings: string[] = []
  const logger = { error: () => undefined, warn: (message: string) => warnings.push(message) }
  const test = await start('stripe', { webhooks: false, logger, ...options })
  const stripe = await stripeSdk(test)
  const { id: product } = await stripe.products.create({ name: 'Seats' })
  const makePrice = async (id: string) => {
    await stripe.plans.create({ id, product, currency: 'usd', amount: 500, interval: 'month' })
    return id
  }
  if (price !== 'monthly') await makePrice(price)
  const { user } = test
  const found = async () => {
    const { data } = await stripe.subscriptions.list({ customer: user.providerId ?? '' })
    return data[0] as Stripe.Subscription
  }
  return {
    ...{ test, user, stripe, warnings, makePrice, found },
    rate: async (percentage: number) =>
      (await stripe.taxRates.create({ display_name: 'Tax', percentage, inclusive: false })).id,
    async subscribe(...others: readonly string[]) {
      let begun = user.newSubscription('main', price)
      for (const other of others) begun = begun.price(other)
      const subscription = await begun.create('pm_card_visa')
      await user.updateCard(CHALLENGED)
      return subscription
    },
    async taxes() {
      const { automatic_tax, default_tax_rates, items, metadata } = await found()
      const percents = (rates: readonly Stripe.TaxRate[] | null | undefined) =>
        (rates ?? []).map(({ percentage }) => percentage)
      return {
        automatic: automatic_tax.enabled,
        whole: percents(default_tax_rates),
        items: Object.fromEntries(
          items.data.map((item) => [item.id, percents(item.tax_rates)] as const),
        ),
        metadata,
      }
    },
    async lapse() {
      await test.sandbox.clock.advance({ days: 1 })
      await user.sync()
    },
  }
}

/** A tax percentage of 5 that becomes 20 when `at.hasMoved` is set. */
function movableTax() {
  const at = { hasMoved: false }
  return { at, options: { taxPercentage: () => (at.hasMoved ? 20 : 5) } }
}

describe('the previous taxes of a subscription, stored while a swap waits for authentication', () => {
  it('are the taxes from before the first of two waiting swaps', async () => {
    const { subscribe, stripe, found, rate, taxes, test } = await startChallenged(
      movableTax().options,
    )
    await subscribe()
    const before = await taxes()
    const context = { stripe, options: {} as never, currency: 'usd', warn: () => undefined }
    for (const [price, percentage] of [
      ['yearly', 10],
      ['quarterly', 20],
    ] as const) {
      const current = await found()
      const items = [{ id: current.items.data[0]?.id ?? '', price }]
      const params = { items, default_tax_rates: [await rate(percentage)] }
      await expect(updateAndPay(context, current, params, START)).rejects.toThrow(
        PaymentActionRequired,
      )
    }
    await test.sandbox.clock.advance({ days: 1 })
    await restorePreviousTaxes(context, await found())
    expect(await taxes()).toEqual(before)
  })

  it('can belong to a price whose id contains spaces', async () => {
    const { at, options } = movableTax()
    const { subscribe, lapse, taxes } = await startChallenged({ ...options, price: 'gold plan 2' })
    const subscription = await subscribe()
    const before = await taxes()
    at.hasMoved = true
    await expect(subscription.swap('yearly')).rejects.toThrow(PaymentActionRequired)
    await lapse()
    expect(await taxes()).toEqual(before)
  })

  it("fit into Stripe's metadata beside those of the application, for as many prices as Stripe allows", async () => {
    const rates = new Map<string, string>()
    const asked = await startChallenged({
      tax: { rates: (_row: unknown, price: string) => [rates.get(price) ?? ''] },
    })
    const { stripe, makePrice, rate, subscribe, found, lapse, taxes } = asked
    const [low, high] = [await rate(5), await rate(20)]
    rates.set('monthly', low).set('pro', high)
    const others: string[] = []
    for (let at = 1; at < 20; at++) others.push(await makePrice(`price_of_a_longer_name_${at}`))
    for (const price of others) rates.set(price, low)
    const subscription = await subscribe(...others)
    const own = Object.fromEntries(Array.from({ length: 38 }, (_, at) => [`own_${at}`, 'kept']))
    await stripe.subscriptions.update(subscription.providerId, { metadata: own })
    const before = await taxes()
    for (const price of others) rates.set(price, high)
    const items = others.map((price) => ({ price }))
    const swap = subscription.swapAndInvoice([{ price: 'pro' }, ...items])
    await expect(swap).rejects.toThrow(PaymentActionRequired)
    const waiting = await found()
    expect(waiting.pending_update).not.toBeNull()
    expect(Object.keys(waiting.metadata)).toEqual(
      expect.arrayContaining(Object.keys(before.metadata)),
    )
    await lapse()
    expect(await taxes()).toEqual(before)
  })

  it.each([
    ['the tax of the swap', 20],
    ['another tax', 30],
    ['no tax', 0],
  ])(
    'are not restored if the tax was changed in the meantime to %s',
    async (_which, percentage) => {
      let said = 5
      const { subscribe, lapse, taxes } = await startChallenged({ taxPercentage: () => said })
      const subscription = await subscribe()
      const { metadata } = await taxes()
      said = 20
      await expect(subscription.swap('yearly')).rejects.toThrow(PaymentActionRequired)
      said = percentage
      await subscription.syncTaxPercentage()
      await lapse()
      const whole = percentage === 0 ? [] : [percentage]
      expect(await taxes()).toMatchObject({ whole, metadata })
    },
  )

  it("make the swap fail without changes if there is no room for them in the subscription's metadata", async () => {
    const { at, options } = movableTax()
    const { stripe, subscribe, taxes } = await startChallenged(options)
    const subscription = await subscribe()
    const own = Object.fromEntries(Array.from({ length: 48 }, (_, at) => [`own_${at}`, 'kept']))
    await stripe.subscriptions.update(subscription.providerId, { metadata: own })
    const before = await taxes()
    at.hasMoved = true
    const refused = subscription.swap('yearly')
    await expect(refused).rejects.toThrow(PaymentFailed)
    await expect(refused).rejects.toThrow('take out 1 of the keys in the metadata of sub_')
    expect(await taxes()).toEqual(before)
  })
})

describe('a swap whose payment the customer never authenticated', () => {
  it('is not mistaken for a paid swap if the subscription was changed in another way', async () => {
    const { at, options } = movableTax()
    const { subscribe, stripe, found, user, taxes } = await startChallenged(options)
    const subscription = await subscribe()
    const before = await taxes()
    at.hasMoved = true
    await expect(subscription.swap('yearly')).rejects.toThrow(PaymentActionRequired)
    const [item] = (await found()).items.data
    await stripe.subscriptions.update(subscription.providerId, {
      items: [{ id: item?.id ?? '', quantity: 3 }],
      proration_behavior: 'none',
    })
    await user.sync()
    expect(await taxes()).toEqual(before)
    expect((await user.subscription('main')).quantity).toBe(3)
  })

  it('is not mistaken for a paid swap if the trial that it would have ended has ended by itself', async () => {
    const { at, options } = movableTax()
    const { user, test, taxes } = await startChallenged(options)
    await user.newSubscription('main', 'monthly').trialDays(14).create('pm_card_visa')
    await user.updateCard(CHALLENGED)
    const before = await taxes()
    await test.sandbox.clock.advance({ days: 12 })
    at.hasMoved = true
    const subscription = await user.subscription('main')
    await expect(subscription.skipTrial().swap('monthly')).rejects.toThrow(PaymentActionRequired)
    await test.sandbox.clock.advance({ days: 3 })
    await user.sync()
    expect(await taxes()).toEqual(before)
  })

  it.each([
    ['rates', { tax: { rates: () => [] } }, 'rate'],
    ['Stripe Tax', { tax: 'automatic' as const }, 'address'],
  ])('logs a warning if the previous %s cannot be restored', async (_way, options, lost) => {
    const asked = await startChallenged(options as never)
    const { subscribe, stripe, found, lapse, user, rate, test, warnings, taxes } = asked
    await user.updateCard('pm_card_visa')
    await user.updateCustomer({ address: { country: 'DE', postalCode: '10115' } })
    await subscribe()
    const { id } = await found()
    const old = await rate(5)
    const [item] = (await found()).items.data
    if (lost === 'rate') {
      await stripe.subscriptionItems.update(item?.id ?? '', { tax_rates: [old] })
    }
    const later = test.another({ tax: undefined, taxPercentage: () => 20 } as never)
    const moved = await (await later.user(user.id)).subscription('main')
    await expect(moved.swap('yearly')).rejects.toThrow(PaymentActionRequired)
    if (lost === 'rate') await stripe.taxRates.update(old, { active: false })
    else await stripe.customers.update(user.providerId ?? '', { address: '' })
    await lapse()
    expect(warnings).toEqual([
      expect.stringContaining(`Subscription ${id} has the tax of a change`),
    ])
    expect(warnings[0]).toContain('syncTaxPercentage()')
    expect(await taxes()).toMatchObject({ automatic: false, whole: [20] })
    expect(Object.keys((await found()).metadata).sort()).toEqual(['name', 'operation'])
    expect((await user.subscription('main')).providerPlan).toBe('monthly')
  })
})

it('a change of only the tax of a subscription causes no proration', async () => {
  const { at, options } = movableTax()
  const { subscribe, user, test } = await startChallenged(options)
  await subscribe()
  const sent: string[] = []
  const http = Stripe.createNodeHttpClient()
  const makeRequest = http.makeRequest.bind(http)
  http.makeRequest = (...args) => {
    const [, , path, method, , body] = args
    if (method === 'POST' && path.startsWith('/v1/subscriptions/')) sent.push(String(body))
    return makeRequest(...args)
  }
  const { apiKey, config } = test.sandbox.stripe
  const other = test.another({
    stripe: { secret: apiKey, webhookSecret: 'whsec_1', config: { ...config, httpClient: http } },
  })
  at.hasMoved = true
  const asking = await other.user(user.id)
  const subscription = await asking.subscription('main')
  await expect(subscription.swap('yearly')).rejects.toThrow(PaymentActionRequired)
  await test.sandbox.clock.advance({ days: 1 })
  await asking.sync()
  await subscription.syncTaxPercentage()
  const ofTax = sent.filter((body) => body.includes('tax_rates') && !/(^|&)items/.test(body))
  expect(ofTax).toHaveLength(3)
  for (const body of ofTax) expect(body).toContain('proration_behavior=none')
})

it('a swap from a daily price can wait for authentication unless it also changes the tax: then its error recommends swapAtPeriodEnd()', async () => {
  const { at, options } = movableTax()
  const { stripe, user, taxes, test } = await startChallenged(options)
  const product = (await stripe.products.create({ name: 'Day' })).id
  const price = { product, currency: 'usd', amount: 100, interval: 'day' } as const
  await stripe.plans.create({ ...price, id: 'daily' })
  const subscription = await user.newSubscription('main', 'daily').create('pm_card_visa')
  await user.updateCard(CHALLENGED)
  await test.sandbox.clock.advance({ hours: 3 })
  await expect(subscription.swap('monthly')).rejects.toThrow(PaymentActionRequired)
  await subscription.swap('daily')
  at.hasMoved = true
  const before = await taxes()
  await expect(subscription.swap('monthly')).rejects.toThrow(
    'Instead: swapAtPeriodEnd(): the next invoice, which would already have the new tax, is due on 2026-01-16T10:00:00.000Z',
  )
  expect(await taxes()).toEqual(before)
  await user.updateCard('pm_card_visa')
  await subscription.swapAtPeriodEnd('monthly')
  await test.sandbox.clock.advance({ days: 1 })
  await user.sync()
  expect((await user.subscription('main')).providerPlan).toBe('monthly')
  expect((await taxes()).whole).toEqual([20])
})
