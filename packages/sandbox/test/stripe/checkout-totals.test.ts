import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { formatDollars, openPage, readRowAmount } from './page-forms.ts'
import { seconds, seedPrices, startStripeSandbox } from './support.ts'

const SUCCESS = 'https://shop.example/done'

async function startShop() {
  const setup = await startStripeSandbox()
  const { stripe } = setup
  const { product, monthly, better } = await seedPrices(stripe)
  const once = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 777,
  })
  const other = await stripe.products.create({ name: 'Support' })
  const support = await stripe.prices.create({
    product: other.id,
    currency: 'usd',
    unit_amount: 333,
    recurring: { interval: 'month' },
  })
  const rate = (display_name: string, percentage: number, inclusive: boolean) =>
    stripe.taxRates.create({ display_name, percentage, inclusive })
  return {
    ...setup,
    monthly,
    better,
    once,
    support,
    added: await rate('Sales tax', 8.875, false),
    inside: await rate('VAT', 19, true),
    percent: await stripe.coupons.create({ percent_off: 12.5, duration: 'forever' }),
    amount: await stripe.coupons.create({ amount_off: 500, currency: 'usd', duration: 'once' }),
  }
}

type Shop = Awaited<ReturnType<typeof startShop>>
type Params = Stripe.Checkout.SessionCreateParams

/** Computed by hand: quantity × price, discount per line, tax on the rest of each line. */
const TABLE: ReadonlyArray<
  [
    string,
    (shop: Shop) => Partial<Params>,
    Record<'subtotal' | 'discount' | 'tax' | 'total', number>,
  ]
> = [
  [
    'three units of one price',
    ({ monthly }) => ({ line_items: [{ price: monthly.id, quantity: 3 }] }),
    { subtotal: 3000, discount: 0, tax: 0, total: 3000 },
  ],
  [
    'several prices, one of them one-time',
    ({ monthly, support, once }) => ({
      line_items: [monthly, support, once].map(({ id }) => ({ price: id, quantity: 1 })),
    }),
    { subtotal: 1000 + 333 + 777, discount: 0, tax: 0, total: 2110 },
  ],
  [
    // 12.5 % of 1000, 333 and 777: 125, 41.625 → 42, 97.125 → 97.
    'a percentage off several prices',
    ({ monthly, support, once, percent }) => ({
      line_items: [monthly, support, once].map(({ id }) => ({ price: id, quantity: 1 })),
      discounts: [{ coupon: percent.id }],
    }),
    { subtotal: 2110, discount: 264, tax: 0, total: 1846 },
  ],
  [
    // 8.875 % of 875 is 77.65…
    'a percentage off, then tax added',
    ({ monthly, percent, added }) => ({
      line_items: [{ price: monthly.id, quantity: 1 }],
      discounts: [{ coupon: percent.id }],
      subscription_data: { default_tax_rates: [added.id] },
    }),
    { subtotal: 1000, discount: 125, tax: 78, total: 953 },
  ],
  [
    // 19 % inside of 2500 − 500: 2000 × 19 / 119 is 319.32…
    'an amount off, tax inside of the price',
    ({ better, amount, inside }) => ({
      line_items: [{ price: better.id, quantity: 1, tax_rates: [inside.id] }],
      discounts: [{ coupon: amount.id }],
    }),
    { subtotal: 2500, discount: 500, tax: 319, total: 2000 },
  ],
  [
    // Only the setup fee, 777, and 8.875 % of it: 68.95…
    'a trial with a setup fee',
    ({ monthly, once, added }) => ({
      line_items: [
        { price: monthly.id, quantity: 2 },
        { price: once.id, quantity: 1 },
      ],
      subscription_data: { trial_period_days: 14, default_tax_rates: [added.id] },
    }),
    { subtotal: 777, discount: 0, tax: 69, total: 846 },
  ],
]

it.each(TABLE)(
  'the Stripe sandbox calculates the same amounts for %s in the Checkout session, on its page and on the invoice',
  async (_name, params, expected) => {
    const shop = await startShop()
    const { stripe, sandbox } = shop
    const session = await stripe.checkout.sessions.create({
      mode: 'subscription',
      success_url: SUCCESS,
      ...params(shop),
    })
    expect(session).toMatchObject({
      amount_subtotal: expected.subtotal,
      amount_total: expected.total,
      total_details: { amount_discount: expected.discount, amount_tax: expected.tax },
      payment_status: 'unpaid',
    })
    const items = (await stripe.checkout.sessions.listLineItems(session.id)).data
    const sum = (field: 'amount_subtotal' | 'amount_discount' | 'amount_tax' | 'amount_total') =>
      items.reduce((total, item) => total + item[field], 0)
    expect(sum('amount_subtotal')).toBe(expected.subtotal)
    expect(sum('amount_discount')).toBe(expected.discount)
    expect(sum('amount_tax')).toBe(expected.tax)
    expect(sum('amount_total')).toBe(expected.total)
    const page = await openPage(session.url)
    expect(readRowAmount(page, 'Subtotal')).toBe(formatDollars(expected.subtotal))
    expect(readRowAmount(page, 'Total')).toBe(formatDollars(expected.total))
    sandbox.stripe.completeCheckout(session.id)
    const done = await stripe.checkout.sessions.retrieve(session.id, { expand: ['invoice'] })
    expect(done).toMatchObject({
      amount_total: expected.total,
      payment_status: 'paid',
      invoice: { subtotal: expected.subtotal, total: expected.total, amount_paid: expected.total },
    })
    expect(sandbox.stripe.charges().map(({ amount }) => amount)).toEqual([expected.total])
  },
)

const TRIALS = [{}, { trial_period_days: 7 }, { trial_end: seconds('2026-02-10T00:00:00Z') }]

it('the Stripe sandbox shows the same amounts on the Checkout page as on the invoice, for random combinations of items, discounts and taxes', async () => {
  const shop = await startShop()
  const { stripe, sandbox, monthly, support, once, added, inside, percent, amount } = shop
  const discounts = [[], [{ coupon: percent.id }], [{ coupon: amount.id }]]
  const taxes = [[], [added.id], [inside.id], [inside.id, added.id]]
  const carts = [[monthly], [monthly, support], [monthly, support, once]]
  for (const trial of TRIALS) {
    for (const discount of discounts) {
      for (const tax of taxes) {
        for (const [at, cart] of carts.entries()) {
          const balance = at === 1 ? -250 : 0
          const customer = await stripe.customers.create({ email: 'a@example.com', balance })
          const session = await stripe.checkout.sessions.create({
            mode: 'subscription',
            customer: customer.id,
            success_url: SUCCESS,
            line_items: cart.map(({ id }, index) => ({ price: id, quantity: index + 1 })),
            ...(discount.length > 0 ? { discounts: discount } : {}),
            subscription_data: { ...trial, default_tax_rates: tax },
          })
          const page = await openPage(session.url)
          sandbox.stripe.completeCheckout(session.id)
          const { invoice } = await stripe.checkout.sessions.retrieve(session.id, {
            expand: ['invoice'],
          })
          const paid = invoice as Stripe.Invoice
          expect(session.amount_total).toBe(paid.total)
          expect(session.amount_subtotal).toBe(paid.subtotal)
          expect(readRowAmount(page, 'Total')).toBe(formatDollars(paid.total))
          const due = readRowAmount(page, 'Due today') ?? readRowAmount(page, 'Total')
          expect(due).toBe(formatDollars(paid.amount_due))
          expect(paid.amount_paid).toBe(paid.amount_due)
        }
      }
    }
  }
})

it('the Stripe sandbox charges in another currency in Checkout if the price has an amount in it', async () => {
  const { stripe, sandbox } = await startShop()
  const product = await stripe.products.create({ name: 'Anywhere' })
  const options = {
    product: product.id,
    currency: 'usd',
    currency_options: { eur: { unit_amount: 900 } },
  }
  const monthly = await stripe.prices.create({
    ...options,
    unit_amount: 1000,
    recurring: { interval: 'month' },
  })
  const once = await stripe.prices.create({ ...options, unit_amount: 1000 })
  for (const [mode, price] of [
    ['subscription', monthly],
    ['payment', once],
  ] as const) {
    const session = await stripe.checkout.sessions.create({
      mode,
      currency: 'eur',
      success_url: SUCCESS,
      line_items: [{ price: price.id, quantity: 2 }],
    })
    expect(session).toMatchObject({ currency: 'eur', amount_total: 1800 })
    const page = await openPage(session.url)
    expect(readRowAmount(page, 'Total')).toBe('€18.00')
    expect(page.text).toContain('€9.00')
    sandbox.stripe.completeCheckout(session.id)
    expect(sandbox.stripe.charges()[0]).toMatchObject({ amount: 1800, currency: 'eur' })
  }
})

it("the Stripe sandbox includes the customer's pending invoice items in the Checkout totals", async () => {
  const { stripe, sandbox, monthly } = await startShop()
  const customer = await stripe.customers.create({ email: 'a@example.com' })
  await stripe.invoiceItems.create({
    customer: customer.id,
    amount: 321,
    currency: 'usd',
    description: 'Left over',
  })
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer: customer.id,
    success_url: SUCCESS,
    line_items: [{ price: monthly.id, quantity: 1 }],
  })
  const page = await openPage(session.url)
  expect(readRowAmount(page, 'Left over')).toBe('$3.21')
  expect(readRowAmount(page, 'Total')).toBe('$13.21')
  sandbox.stripe.completeCheckout(session.id)
  expect(sandbox.stripe.paidInvoices(customer.id)).toMatchObject([{ total: 1321 }])
})

it('the Stripe sandbox leaves no trace of the calculation of the Checkout totals', async () => {
  const { stripe, sandbox, monthly, percent } = await startShop()
  const before = sandbox.stripe.events().length
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    success_url: SUCCESS,
    line_items: [{ price: monthly.id, quantity: 1 }],
    discounts: [{ coupon: percent.id }],
  })
  await openPage(session.url)
  expect(sandbox.stripe.events().length).toBe(before)
  expect(sandbox.stripe.customers()).toEqual([])
  expect(sandbox.stripe.subscriptions()).toEqual([])
  expect(sandbox.stripe.invoices()).toEqual([])
  expect((await stripe.coupons.retrieve(percent.id)).times_redeemed).toBe(0)
})

it('the Stripe sandbox lists the parts of each Checkout amount, before and after payment', async () => {
  const { stripe, sandbox, monthly, once, added, percent } = await startShop()
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    success_url: SUCCESS,
    line_items: [
      { price: monthly.id, quantity: 1, tax_rates: [added.id] },
      { price: once.id, quantity: 1 },
    ],
    discounts: [{ coupon: percent.id }],
  })
  const read = () =>
    stripe.checkout.sessions.retrieve(session.id, {
      expand: ['total_details.breakdown', 'line_items.data.taxes', 'line_items.data.discounts'],
    })
  const source = { type: 'coupon', coupon: percent.id }
  const expected = {
    total_details: {
      breakdown: {
        discounts: [{ amount: 125 + 97, discount: { object: 'discount', source } }],
        taxes: [{ amount: 78, rate: { id: added.id }, taxable_amount: 875 }],
      },
    },
    line_items: {
      data: [
        {
          discounts: [{ amount: 125, discount: { source } }],
          taxes: [{ amount: 78, rate: { id: added.id } }],
        },
        { discounts: [{ amount: 97 }], taxes: [] },
      ],
    },
  }
  expect(await read()).toMatchObject(expected)
  sandbox.stripe.completeCheckout(session.id)
  const done = await read()
  expect(done).toMatchObject(expected)
  const { discounts } = await stripe.subscriptions.retrieve(String(done.subscription))
  expect(done.total_details?.breakdown?.discounts[0]?.discount.id).toBe(discounts[0])
})
