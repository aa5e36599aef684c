import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { catchStripeError, startStripeSandbox } from './support.ts'

it("the Stripe sandbox returns a price's currency options only when expanded", async () => {
  const { stripe } = await startStripeSandbox()
  const price = await seedPrice(stripe)
  expect(price.currency_options).toBeUndefined()
  const seen = await stripe.prices.retrieve(price.id, { expand: ['currency_options'] })
  expect(seen.currency_options).toMatchObject({
    usd: { unit_amount: 1000, tax_behavior: 'unspecified' },
    eur: { unit_amount: 900, tax_behavior: 'inclusive', custom_unit_amount: null },
    jpy: { unit_amount: 1500 },
  })
  await stripe.prices.update(price.id, {
    currency_options: { gbp: { unit_amount: 800 }, jpy: { tax_behavior: 'exclusive' } },
  })
  const more = await stripe.prices.retrieve(price.id, { expand: ['currency_options'] })
  expect(more.currency_options).toMatchObject({
    gbp: { unit_amount: 800 },
    jpy: { unit_amount: 1500, tax_behavior: 'exclusive' },
  })
  await stripe.prices.update(price.id, { currency_options: '' })
  const none = await stripe.prices.retrieve(price.id, { expand: ['currency_options'] })
  expect(Object.keys(none.currency_options ?? {})).toEqual(['usd'])
  const product = await stripe.products.create({
    name: 'Silver',
    default_price_data: {
      currency: 'usd',
      unit_amount: 5,
      currency_options: { eur: { unit_amount: 4 } },
    },
    expand: ['default_price.currency_options'],
  })
  expect(product.default_price).toMatchObject({ currency_options: { eur: { unit_amount: 4 } } })
})

it('the Stripe sandbox bills a subscription in the requested currency, from its start through a swap to renewals', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const price = await seedPrice(stripe)
  const better = await seedPrice(stripe, 2000, 1800)
  const customer = await newCustomer(stripe)
  const { id, currency, items } = await stripe.subscriptions.create({
    customer,
    currency: 'eur',
    items: [{ price: price.id, quantity: 2 }],
  })
  expect(currency).toBe('eur')
  expect(sandbox.stripe.charges(customer)).toMatchObject([{ amount: 1800, currency: 'eur' }])
  const [first] = sandbox.stripe.invoices(customer)
  expect(first).toMatchObject({ currency: 'eur', subtotal: 1800 })
  const [line] = (await stripe.invoices.listLineItems(first?.id ?? '')).data
  expect(line?.description).toBe('2 × Gold (at €9.00 / month)')
  expect(String(line?.pricing?.unit_amount_decimal)).toBe('900')
  await stripe.subscriptions.update(id, {
    items: [{ id: items.data[0]?.id ?? '', price: better.id, quantity: 2 }],
    proration_behavior: 'always_invoice',
  })
  // A whole month at twice the price, less the month that was paid.
  expect(sandbox.stripe.charges(customer)[0]).toMatchObject({ amount: 1800, currency: 'eur' })
  await sandbox.clock.advance({ months: 1, hours: 2 })
  expect(sandbox.stripe.charges(customer)[0]).toMatchObject({ amount: 3600, currency: 'eur' })
  // A customer billed in euros is billed in euros again by default.
  const second = await stripe.subscriptions.create({ customer, items: [{ price: price.id }] })
  expect(second.currency).toBe('eur')
})

it("the Stripe sandbox applies a coupon in the subscription's billing currency", async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const price = await seedPrice(stripe)
  const customer = await newCustomer(stripe)
  const coupon = await stripe.coupons.create({
    amount_off: 200,
    currency: 'usd',
    duration: 'forever',
    currency_options: { eur: { amount_off: 150 } },
    expand: ['currency_options'],
  })
  expect(coupon.currency_options).toEqual({ usd: { amount_off: 200 }, eur: { amount_off: 150 } })
  const subscribe = (currency: string) =>
    stripe.subscriptions.create({
      customer,
      currency,
      items: [{ price: price.id }],
      discounts: [{ coupon: coupon.id }],
    })
  expect((await catchStripeError(subscribe('jpy'))).param).toBe('discounts[0][coupon]')
  const { id, items } = await subscribe('eur')
  expect(sandbox.stripe.charges(customer)).toMatchObject([{ amount: 750, currency: 'eur' }])
  await stripe.subscriptions.update(id, {
    items: [{ id: items.data[0]?.id ?? '', quantity: 2 }],
    proration_behavior: 'always_invoice',
  })
  // Twice 9.00 less 1.50, less the 7.50 that were paid.
  expect(sandbox.stripe.charges(customer)[0]).toMatchObject({ amount: 900 })
  await stripe.coupons.update(coupon.id, { currency_options: { jpy: { amount_off: 100 } } })
  const seen = await stripe.coupons.retrieve(coupon.id, { expand: ['currency_options'] })
  expect(Object.keys(seen.currency_options ?? {})).toEqual(['usd', 'eur', 'jpy'])
  const percent = { percent_off: 10, currency_options: { eur: { amount_off: 1 } } }
  expect((await catchStripeError(stripe.coupons.create(percent))).param).toBe(
    'currency_options[eur]',
  )
})

it('the Stripe sandbox adds a one-time price in the currency of the invoice or subscription that it is added to', async () => {
  const { stripe } = await startStripeSandbox()
  const customer = await newCustomer(stripe)
  const product = await stripe.products.create({ name: 'Setup' })
  const once = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 700,
    currency_options: { eur: { unit_amount: 600 } },
  })
  const draft = await stripe.invoices.create({ customer, currency: 'eur' })
  const item = await stripe.invoiceItems.create({
    customer,
    invoice: draft.id,
    pricing: { price: once.id },
    quantity: 3,
  })
  expect(item).toMatchObject({ amount: 1800, currency: 'eur' })
  const wrong = { customer, currency: 'gbp', pricing: { price: once.id } }
  expect((await catchStripeError(stripe.invoiceItems.create(wrong))).message).toBe(
    "The price specified only supports `usd`, `eur`. This doesn't match the expected currency: `gbp`.",
  )
})

it('the Stripe sandbox rejects currencies that a price does not have, and invalid options', async () => {
  const { stripe } = await startStripeSandbox()
  const price = await seedPrice(stripe)
  const customer = await newCustomer(stripe)
  const items = [{ price: price.id }]
  const gbp = await catchStripeError(
    stripe.subscriptions.create({ customer, currency: 'gbp', items }),
  )
  expect(gbp.param).toBe('items')
  for (const [options, param] of [
    [{ usd: { unit_amount: 1 } }, 'currency_options[usd]'],
    [{ xyz: { unit_amount: 1 } }, 'currency_options[xyz]'],
    [{ eur: { tax_behavior: 'exclusive' } }, 'currency_options[eur][unit_amount]'],
    [{ eur: { unit_amount: -1 } }, 'currency_options[eur][unit_amount]'],
    [{ eur: { custom_unit_amount: { enabled: true } } }, CUSTOM],
  ] as Array<[Record<string, Stripe.PriceCreateParams.CurrencyOptions>, string]>) {
    const refused = await catchStripeError(
      stripe.prices.create({
        product: String(price.product),
        currency: 'usd',
        unit_amount: 1,
        currency_options: options,
      }),
    )
    expect(refused.param).toBe(param)
  }
})

const CUSTOM = 'currency_options[eur][custom_unit_amount]'

async function seedPrice(stripe: Stripe, usd = 1000, eur = 900): Promise<Stripe.Price> {
  const product = await stripe.products.create({ name: 'Gold' })
  return await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: usd,
    recurring: { interval: 'month' },
    currency_options: {
      eur: { unit_amount: eur, tax_behavior: 'inclusive' },
      jpy: { unit_amount: 1500 },
    },
  })
}

async function newCustomer(stripe: Stripe): Promise<string> {
  const customer = await stripe.customers.create({
    payment_method: 'pm_card_visa',
    invoice_settings: { default_payment_method: 'pm_card_visa' },
  })
  return customer.id
}
