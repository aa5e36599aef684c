import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { multiplyFraction } from '../../src/core/rounding.ts'
import { openPage, readRowAmount, submit } from './page-forms.ts'
import { catchStripeError, startStripeSandbox } from './support.ts'

type Address = Stripe.CustomerCreateParams['address']
type TaxId = Stripe.CustomerCreateParams.TaxIdDatum
type Customer = Pick<Stripe.CustomerCreateParams, 'tax_exempt'> & { tax_id?: TaxId }

const AUTOMATIC = { enabled: true } as const
const ON_PAGE = { success_url: 'https://shop.example/done' }
const BERLIN: Address = { country: 'DE', postal_code: '10115' }

/** A rate of 19 is written as 190000, so that all sums are of integers. */
const percent = (amount: number, rates: readonly number[]) =>
  rates.map((rate) => multiplyFraction(amount, Math.round(rate * 10_000), 1_000_000))
const inside = (amount: number, rate: number) =>
  multiplyFraction(amount, Math.round(rate * 10_000), 1_000_000 + Math.round(rate * 10_000))

async function startShop() {
  const setup = await startStripeSandbox()
  const { stripe } = setup
  const product = await stripe.products.create({ name: 'Gold' })
  const donation = await stripe.products.create({ name: 'Donation', tax_code: 'txcd_00000000' })
  const price = (params: Partial<Stripe.PriceCreateParams>) =>
    stripe.prices.create({
      product: product.id,
      currency: 'eur',
      recurring: { interval: 'month' },
      ...params,
    })
  return {
    ...setup,
    product,
    added: await price({ unit_amount: 1999, tax_behavior: 'exclusive' }),
    within: await price({ unit_amount: 1234, tax_behavior: 'inclusive' }),
    silent: await price({ unit_amount: 777 }),
    dollars: await price({ unit_amount: 777, currency: 'usd' }),
    gift: await price({ unit_amount: 500, product: donation.id, tax_behavior: 'exclusive' }),
    better: await price({ unit_amount: 4999, tax_behavior: 'exclusive' }),
    coupon: await stripe.coupons.create({ percent_off: 12.5, duration: 'forever' }),
  }
}

async function newCustomer(stripe: Stripe, address: Address | undefined, more: Customer = {}) {
  const { tax_id, ...rest } = more
  const customer = await stripe.customers.create({
    email: 'ada@example.com',
    ...(address === undefined ? {} : { address }),
    ...(tax_id ? { tax_id_data: [tax_id] } : {}),
    ...rest,
  })
  const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id })
  return stripe.customers.update(customer.id, {
    invoice_settings: { default_payment_method: method.id },
  })
}

/** Computes every sum of an invoice from its lines and compares. */
function expectToAddUp(invoice: Stripe.Invoice): void {
  const lines = invoice.lines.data
  const sum = (amounts: ReadonlyArray<{ amount: number }> | null | undefined) =>
    (amounts ?? []).reduce((total, { amount }) => total + amount, 0)
  const taxes = lines.flatMap((line) => line.taxes ?? [])
  const added = taxes.filter(({ tax_behavior }) => tax_behavior === 'exclusive')
  expect(sum(invoice.total_taxes)).toBe(sum(taxes))
  expect(invoice.total).toBe(
    sum(lines) - sum(lines.flatMap((line) => line.discount_amounts ?? [])) + sum(added),
  )
  expect(invoice.total_excluding_tax).toBe(invoice.total - sum(taxes))
}

const EU: TaxId = { type: 'eu_vat', value: 'FR12345678901' }

/** [description, address, customer, rates on a line, taxability reason]. */
const PEOPLE: ReadonlyArray<[string, Address, Customer, readonly number[], string]> = [
  ['Germany', BERLIN, {}, [19], 'standard_rated'],
  ['Finland, half a percent', { country: 'FI' }, {}, [25.5], 'standard_rated'],
  ['Switzerland', { country: 'CH' }, {}, [8.1], 'standard_rated'],
  ['Quebec, two taxes', { country: 'CA', state: 'QC' }, {}, [5, 9.975], 'standard_rated'],
  ['Ontario, by postal code', { country: 'CA', postal_code: 'M5V' }, {}, [13], 'standard_rated'],
  [
    'California, by ZIP code',
    { country: 'US', postal_code: '94107' },
    {},
    [7.25],
    'standard_rated',
  ],
  ['Oregon', { country: 'US', postal_code: '97201', state: 'OR' }, {}, [], 'not_collecting'],
  ['Brazil', { country: 'BR' }, {}, [], 'not_collecting'],
  ['a business in the EU', BERLIN, { tax_id: EU }, [], 'reverse_charge'],
  [
    'a business whose VAT number failed verification',
    BERLIN,
    { tax_id: { type: 'eu_vat', value: '111111111' } },
    [],
    'reverse_charge',
  ],
  ['an EU number outside of it', { country: 'CH' }, { tax_id: EU }, [8.1], 'standard_rated'],
  [
    'a British business',
    { country: 'GB' },
    { tax_id: { type: 'gb_vat', value: 'GB123456789' } },
    [],
    'reverse_charge',
  ],
  ['exempt', BERLIN, { tax_exempt: 'exempt' }, [], 'customer_exempt'],
  [
    'a manual reverse charge',
    { country: 'US', postal_code: '10001' },
    { tax_exempt: 'reverse' },
    [],
    'reverse_charge',
  ],
]

it('the Stripe sandbox taxes each customer by address, to the cent, for items with tax-inclusive, tax-exclusive and untaxed prices', async () => {
  const { stripe, added, within, silent, gift, coupon } = await startShop()
  for (const [name, address, more, rates, reason] of PEOPLE) {
    const customer = await newCustomer(stripe, address, more)
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [
        { price: added.id, quantity: 3 },
        { price: within.id },
        { price: silent.id },
        { price: gift.id },
      ],
      discounts: [{ coupon: coupon.id }],
      automatic_tax: AUTOMATIC,
      expand: ['latest_invoice'],
    })
    const invoice = subscription.latest_invoice as Stripe.Invoice
    expect(invoice.automatic_tax, name).toMatchObject({ enabled: true, status: 'complete' })
    expectToAddUp(invoice)
    const off = (amount: number) => amount - multiplyFraction(amount, 125_000, 1_000_000)
    const all = rates.reduce((total, rate) => total + rate, 0)
    const expected = {
      added: percent(off(3 * 1999), rates).reduce((a, b) => a + b, 0),
      within: inside(off(1234), all),
      silent: inside(off(777), all),
      gift: 0,
    }
    const taxOf = (price: string) =>
      invoice.lines.data
        .filter((line) => line.pricing?.price_details?.price === price)
        .flatMap((line) => line.taxes ?? [])
    const found = Object.entries({ added, within, silent, gift }).map(
      ([key, { id }]) => [key, taxOf(id).reduce((total, tax) => total + tax.amount, 0)] as const,
    )
    expect(Object.fromEntries(found), name).toEqual(expected)
    expect(new Set(taxOf(added.id).map((tax) => tax.taxability_reason)), name).toEqual(
      new Set([reason]),
    )
    expect(taxOf(gift.id)[0]?.taxability_reason).toBe('not_subject_to_tax')
    expect(invoice.total, name).toBe(
      off(3 * 1999) + off(1234) + off(777) + off(500) + expected.added,
    )
    const charged = await stripe.paymentIntents.list({ customer: customer.id })
    expect(charged.data.map(({ amount }) => amount)).toEqual([invoice.total])
    const rate = taxOf(added.id)[0]?.tax_rate_details?.tax_rate ?? ''
    const shown = await stripe.taxRates.retrieve(rate)
    expect(shown).toMatchObject({ active: false, percentage: rates[0] ?? 0, inclusive: false })
  }
})

it('the Stripe sandbox rejects automatic tax without a sufficient address, and bills a renewal without tax if the address is no longer sufficient', async () => {
  const { sandbox, stripe, added } = await startShop()
  const customer = await newCustomer(stripe, { country: 'US', state: 'CA' })
  const wish = { customer: customer.id, automatic_tax: AUTOMATIC }
  const items = [{ price: added.id }]
  const code = 'customer_tax_location_invalid'
  expect(await catchStripeError(stripe.subscriptions.create({ ...wish, items }))).toMatchObject({
    code,
  })
  expect((await stripe.subscriptions.list({ customer: customer.id })).data).toEqual([])
  const preview = await stripe.invoices.createPreview({ ...wish, subscription_details: { items } })
  expect([preview.automatic_tax.status, preview.total]).toEqual(['requires_location_inputs', 1999])
  const draft = await stripe.invoices.create({ ...wish, currency: 'eur' })
  await stripe.invoiceItems.create({ customer: customer.id, invoice: draft.id ?? '', amount: 1000 })
  expect(await catchStripeError(stripe.invoices.finalizeInvoice(draft.id ?? ''))).toMatchObject({
    code,
  })
  const session: Stripe.Checkout.SessionCreateParams = {
    ...ON_PAGE,
    ...wish,
    mode: 'subscription',
    line_items: [{ price: added.id, quantity: 1 }],
  }
  expect(await catchStripeError(stripe.checkout.sessions.create(session))).toMatchObject({ code })
  const immediately = { tax: { validate_location: 'immediately' } } as const
  expect(await catchStripeError(stripe.customers.create(immediately))).toMatchObject({ code })
  expect(await catchStripeError(stripe.customers.update(customer.id, immediately))).toMatchObject({
    code,
  })

  const moved = await stripe.customers.update(customer.id, {
    address: BERLIN,
    ...immediately,
    expand: ['tax'],
  })
  expect(moved.tax).toMatchObject({
    automatic_tax: 'supported',
    location: { country: 'DE', source: 'billing_address' },
  })
  const open = await stripe.invoices.finalizeInvoice(draft.id ?? '')
  expect(open.total_taxes?.[0]?.amount).toBe(inside(1000, 19))
  const { id } = await stripe.subscriptions.create({ ...wish, items })
  const away = { address: { country: 'US' } }
  expect(await catchStripeError(stripe.customers.update(customer.id, away))).toMatchObject({ code })
  const later = { ...away, tax: { validate_location: 'deferred' } } as const
  await stripe.customers.update(customer.id, later)
  await sandbox.clock.advance({ months: 1, hours: 2 })
  const subscription = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })
  expect(subscription.automatic_tax).toMatchObject({
    enabled: false,
    disabled_reason: 'requires_location_inputs',
  })
  expect(subscription.latest_invoice).toMatchObject({
    status: 'paid',
    total: 1999,
    automatic_tax: { enabled: false, disabled_reason: 'finalization_requires_location_inputs' },
  })
  const listed = await stripe.subscriptions.list({ automatic_tax: AUTOMATIC })
  expect(listed.data).toEqual([])
})

it('the Stripe sandbox previews exactly the tax that is charged for a new subscription, a swap and a renewal', async () => {
  const { sandbox, stripe, added, better, within, coupon } = await startShop()
  for (const [price, next, more] of [
    [added, better, {}],
    [within, added, {}],
    [within, better, { tax_id: EU }],
  ] as const) {
    const customer = await newCustomer(stripe, BERLIN, more)
    const whole = { customer: customer.id, automatic_tax: AUTOMATIC }
    const first = await stripe.invoices.createPreview({
      ...whole,
      subscription_details: { items: [{ price: price.id, quantity: 2 }] },
      discounts: [{ coupon: coupon.id }],
    })
    expectToAddUp(first)
    const made = await stripe.subscriptions.create({
      ...whole,
      items: [{ price: price.id, quantity: 2 }],
      discounts: [{ coupon: coupon.id }],
      expand: ['latest_invoice'],
    })
    expect((made.latest_invoice as Stripe.Invoice).total).toBe(first.total)
    await sandbox.clock.advance({ days: 10 })
    const items = [{ id: made.items.data[0]?.id ?? '', price: next.id }]
    const now = Math.floor(sandbox.clock.now().getTime() / 1000)
    const terms = { items, proration_date: now, proration_behavior: 'always_invoice' } as const
    const preview = await stripe.invoices.createPreview({
      subscription: made.id,
      subscription_details: terms,
    })
    expectToAddUp(preview)
    const swapped = await stripe.subscriptions.update(made.id, {
      ...terms,
      expand: ['latest_invoice'],
    })
    expect((swapped.latest_invoice as Stripe.Invoice).total).toBe(preview.total)
    const renewal = await stripe.invoices.createPreview({ subscription: made.id })
    await sandbox.clock.advance({ months: 1, hours: 2 })
    const [newest] = (await stripe.invoices.list({ subscription: made.id, limit: 1 })).data
    expect([newest?.total, newest?.status]).toEqual([renewal.total, 'paid'])
    await stripe.subscriptions.cancel(made.id)
  }
})

it('the Stripe sandbox collects an address in Checkout, computes the tax and saves the address if allowed', async () => {
  const { sandbox, stripe, added, within } = await startShop()
  const lines = [added, within].map(({ id }) => ({ price: id, quantity: 1 }))
  const tax = percent(1999, [19])[0] ?? 0
  const wish = {
    ...ON_PAGE,
    mode: 'subscription',
    line_items: lines,
    automatic_tax: AUTOMATIC,
    tax_id_collection: { enabled: true },
  } as const
  const known = await newCustomer(stripe, undefined)
  const update = { customer: known.id, customer_update: { address: 'auto', name: 'auto' } } as const
  for (const who of [{}, update]) {
    const session = await stripe.checkout.sessions.create({ ...wish, ...who })
    expect(session.automatic_tax.status).toBe('requires_location_inputs')
    expect([session.amount_total, session.total_details?.amount_tax]).toEqual([1999 + 1234, 0])
    expect(() => sandbox.stripe.completeCheckout(session.id)).toThrow(/where you are/)
    await submit(session.url, { action: 'address', country: 'de', postal_code: '10115' })
    const taxed = await openPage(session.url)
    expect(readRowAmount(taxed, 'Total')).toBe(`€${((1999 + 1234 + tax) / 100).toFixed(2)}`)
    sandbox.stripe.completeCheckout(session.id, { address: { country: 'DE' } })
    const done = await stripe.checkout.sessions.retrieve(session.id, {
      expand: ['invoice', 'customer', 'total_details.breakdown'],
    })
    const invoice = done.invoice as Stripe.Invoice
    expectToAddUp(invoice)
    expect(done).toMatchObject({
      automatic_tax: { status: 'complete' },
      amount_total: invoice.total,
      total_details: { amount_tax: tax + inside(1234, 19) },
      customer: { address: { country: 'DE' } },
    })
    expect(done.total_details?.breakdown?.taxes.map(({ amount }) => amount)).toEqual([
      tax,
      inside(1234, 19),
    ])
  }
  const once = await stripe.checkout.sessions.create({
    ...wish,
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: 'eur',
          unit_amount: 5000,
          tax_behavior: 'exclusive',
          product_data: { name: 'Course' },
        },
      },
    ],
  })
  sandbox.stripe.completeCheckout(once.id, {
    address: { country: 'FR' },
    taxId: { type: 'eu_vat', value: 'FR12345678901' },
  })
  const paid = await stripe.checkout.sessions.retrieve(once.id)
  expect([paid.amount_total, paid.total_details?.amount_tax]).toEqual([5000, 0])
})

it('the Stripe sandbox rejects manual tax rates together with automatic tax, and previews the tax of a customer who does not exist yet', async () => {
  const { stripe, added, product } = await startShop()
  const customer = await newCustomer(stripe, BERLIN)
  const rate = await stripe.taxRates.create({
    display_name: 'Tax',
    percentage: 5,
    inclusive: false,
  })
  const both = { customer: customer.id, automatic_tax: AUTOMATIC, default_tax_rates: [rate.id] }
  const items = [{ price: added.id }]
  for (const call of [
    stripe.subscriptions.create({ ...both, items }),
    stripe.subscriptions.create({
      customer: customer.id,
      automatic_tax: AUTOMATIC,
      items: [{ price: added.id, tax_rates: [rate.id] }],
    }),
    stripe.invoices.create(both),
    stripe.subscriptions.create({
      customer: customer.id,
      items,
      default_tax_rates: ['txr_1autoDEvat19exclusive'],
    }),
    stripe.products.update(product.id, { tax_code: 'txcd_1' }),
  ]) {
    expect((await catchStripeError(call)).type).toBe('StripeInvalidRequestError')
  }
  const preview = await stripe.invoices.createPreview({
    customer_details: { address: { country: 'FR' } },
    automatic_tax: AUTOMATIC,
    subscription_details: { items },
  })
  expect(preview.total).toBe(1999 + (percent(1999, [20])[0] ?? 0))
  const codes = await stripe.taxCodes.list()
  expect((await stripe.taxCodes.retrieve(codes.data[0]?.id ?? '')).name).toBe('Nontaxable')
  const on = await stripe.subscriptions.create({ customer: customer.id, items })
  const updated = await stripe.subscriptions.update(on.id, { automatic_tax: AUTOMATIC })
  expect(updated.automatic_tax.enabled).toBe(true)
})
