import Stripe from 'stripe'
import { expect, it, vi } from 'vitest'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

it('the Stripe sandbox returns the first response for a repeated idempotency key, and rejects the key for another request', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const first = await stripe.customers.create(
    { email: 'a@example.com' },
    { idempotencyKey: 'op:customer' },
  )
  const again = await stripe.customers.create(
    { email: 'a@example.com' },
    { idempotencyKey: 'op:customer' },
  )
  expect(again.id).toBe(first.id)
  const raw = again.lastResponse as unknown as Response
  expect(raw.headers.get('idempotent-replayed')).toBe('true')
  expect((await stripe.customers.list()).data).toHaveLength(1)
  const other = await catchStripeError(
    stripe.customers.create({ email: 'b@example.com' }, { idempotencyKey: 'op:customer' }),
  )
  expect(other).toBeInstanceOf(Stripe.errors.StripeIdempotencyError)
  const elsewhere = await catchStripeError(
    stripe.products.create({ name: 'x' }, { idempotencyKey: 'op:customer' }),
  )
  expect(elsewhere).toBeInstanceOf(Stripe.errors.StripeIdempotencyError)
  const tooLong = await catchStripeError(
    stripe.customers.create({}, { idempotencyKey: 'k'.repeat(256) }),
  )
  expect(tooLong.statusCode).toBe(400)
  await sandbox.clock.advance({ hours: 25 })
  const later = await stripe.customers.create(
    { email: 'b@example.com' },
    { idempotencyKey: 'op:customer' },
  )
  expect(later.id).not.toBe(first.id)
})

it('the Stripe sandbox returns the first response for a repeated idempotency key of a declined payment, but not of a call with a rejected parameter', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe, 'pm_card_chargeCustomerFail')
  const pay = () =>
    stripe.paymentIntents.create(
      {
        amount: 1000,
        currency: 'usd',
        customer: customer.id,
        payment_method: method.id,
        confirm: true,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      },
      { idempotencyKey: 'pay' },
    )
  const first = await catchStripeError(pay())
  const second = await catchStripeError(pay())
  expect((second.payment_intent as Stripe.PaymentIntent).id).toBe(
    (first.payment_intent as Stripe.PaymentIntent).id,
  )
  expect((await stripe.paymentIntents.list()).data).toHaveLength(1)
  await catchStripeError(stripe.customers.create({ nope: 1 } as never, { idempotencyKey: 'typo' }))
  await stripe.customers.create({}, { idempotencyKey: 'typo' })
})

it('the Stripe sandbox paginates by cursor in both directions', async () => {
  const { stripe } = await startStripeSandbox()
  const ids: string[] = []
  for (let i = 0; i < 23; i++) ids.unshift((await stripe.customers.create({})).id)
  const seen: string[] = []
  for await (const customer of stripe.customers.list({ limit: 5 })) seen.push(customer.id)
  expect(seen).toEqual(ids)
  const second = await stripe.customers.list({ limit: 5, starting_after: ids[4] ?? '' })
  expect([second.data.map((each) => each.id), second.has_more]).toEqual([ids.slice(5, 10), true])
  const back = await stripe.customers.list({ limit: 3, ending_before: ids[5] ?? '' })
  expect(back.data.map((each) => each.id)).toEqual(ids.slice(2, 5))
})

it('the Stripe sandbox simulates failed calls: 429, 500, slow, lost and half-written responses', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { trouble } = sandbox
  trouble.failNext(1, '429')
  expect(await catchStripeError(stripe.customers.create({}))).toBeInstanceOf(
    Stripe.errors.StripeRateLimitError,
  )
  trouble.failNext(1, '500')
  expect(await catchStripeError(stripe.customers.create({}))).toBeInstanceOf(
    Stripe.errors.StripeAPIError,
  )
  expect((await stripe.customers.list()).data).toEqual([])
  const create = () =>
    stripe.customers.create({ email: 'once@example.com' }, { idempotencyKey: 'once' })
  trouble.failNext(1, 'half-written')
  expect(await catchStripeError(create())).toBeInstanceOf(Stripe.errors.StripeConnectionError)
  const made = await create()
  expect((await stripe.customers.list()).data.map((each) => each.id)).toEqual([made.id])
  const hasty = new Stripe(sandbox.stripe.apiKey, {
    ...sandbox.stripe.config,
    maxNetworkRetries: 0,
    timeout: 1000, // enough to arrive there on a busy machine
  })
  trouble.failNext(1, 'timeout')
  expect(
    await catchStripeError(hasty.customers.create({ email: 'lost@example.com' })),
  ).toBeInstanceOf(Stripe.errors.StripeConnectionError)
  expect((await stripe.customers.list({ email: 'lost@example.com' })).data).toHaveLength(1)
  trouble.failNext(1, { slowMs: 20 })
  expect((await stripe.customers.list()).data).toHaveLength(2)
})

it('the Stripe sandbox holds a response back until it is released, after the call has taken effect', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { trouble } = sandbox
  trouble.failNext(1, 'held', 'stripe')
  let answered = false
  const creating = stripe.customers.create({ email: 'held@example.com' }).then((made) => {
    answered = true
    return made
  })
  await trouble.untilHeld()
  const [found] = (await stripe.customers.list({ email: 'held@example.com' })).data
  expect([found?.email, answered]).toEqual(['held@example.com', false])
  trouble.release()
  expect((await creating).id).toBe(found?.id)
})

it('the Stripe sandbox responds with 409 to an idempotency key whose first call is still in progress', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { trouble } = sandbox
  const create = () => stripe.customers.create({ name: 'Ada' }, { idempotencyKey: 'once' })
  trouble.failNext(1, 'held', 'stripe')
  const first = create()
  await trouble.untilHeld()
  expect(await catchStripeError(create())).toMatchObject({
    statusCode: 409,
    rawType: 'idempotency_error',
    code: 'idempotency_key_in_use',
  })
  const another = await stripe.customers.create({ name: 'Ada' }, { idempotencyKey: 'twice' })
  trouble.release()
  const made = await first
  expect(another.id).not.toBe(made.id)
  expect((await create()).id).toBe(made.id)
  expect((await stripe.customers.list()).data).toHaveLength(2)
})

it('the Stripe sandbox lets the SDK retry until the first call with the same idempotency key has finished', async () => {
  const { sandbox, stripe } = await startStripeSandbox({ sdk: { maxNetworkRetries: 5 } })
  const create = () => stripe.customers.create({ name: 'Ada' }, { idempotencyKey: 'once' })
  sandbox.trouble.failNext(1, { slowMs: 300 }, 'stripe')
  const [one, two] = await Promise.all([create(), create()])
  expect(two.id).toBe(one.id)
})

it('the Stripe sandbox frees the idempotency key of a call in progress when its caller disconnects', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { apiKey, url } = sandbox.stripe
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/x-www-form-urlencoded',
    'idempotency-key': 'once',
  }
  sandbox.trouble.failNext(1, 'held', 'stripe')
  const gone = new AbortController()
  const init = { method: 'POST', headers, body: 'name=Ada', signal: gone.signal }
  const first = fetch(`${url}/v1/customers`, init)
  await sandbox.trouble.untilHeld()
  gone.abort()
  await expect(first).rejects.toThrow()
  const create = () => stripe.customers.create({ name: 'Ada' }, { idempotencyKey: 'once' })
  await vi.waitFor(create)
  expect((await stripe.customers.list()).data).toHaveLength(1)
})

it('the Stripe sandbox reads lists without indexes and capitalized booleans, as clients without an SDK and older SDKs send them', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly, better } = await seedPrices(stripe)
  const response = await fetch(`${sandbox.stripe.url}/v1/subscriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.stripe.apiKey}` },
    body: new URLSearchParams([
      ['customer', customer.id],
      ['items[][price]', monthly.id],
      ['items[][quantity]', '3'],
      ['items[][price]', better.id],
      ['items[][quantity]', '2'],
      ['off_session', 'True'],
    ]),
  })
  const made = (await response.json()) as Stripe.Subscription
  expect(made.items.data.map(({ price, quantity }) => [price.id, quantity])).toEqual([
    [monthly.id, 3],
    [better.id, 2],
  ])
})

it("the Stripe sandbox declines one customer's next charge with declineNextCharge()", async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const other = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  sandbox.trouble.declineNextCharge(customer.id, 'lost_card')
  const fine = await stripe.subscriptions.create({
    customer: other.customer.id,
    items: [{ price: monthly.id }],
  })
  expect(fine.status).toBe('active')
  const declined = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    expand: ['latest_invoice'],
  })
  expect(declined.status).toBe('incomplete')
  const [charge] = (await stripe.charges.list({ customer: customer.id })).data
  expect(charge).toMatchObject({
    status: 'failed',
    failure_code: 'card_declined',
    outcome: { reason: 'lost_card' },
  })
  await stripe.invoices.pay((declined.latest_invoice as Stripe.Invoice).id ?? '')
  expect((await stripe.subscriptions.retrieve(declined.id)).status).toBe('active')
})

it('the Stripe sandbox applies coupons and taxes to invoices, exact to the cent, and no coupon after its end', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const once = await stripe.coupons.create({ amount_off: 333, currency: 'usd', duration: 'once' })
  const three = await stripe.coupons.create({
    percent_off: 10,
    duration: 'repeating',
    duration_in_months: 2,
  })
  const code = await stripe.promotionCodes.create({
    promotion: { type: 'coupon', coupon: three.id },
    code: 'TEN',
  })
  const vat = await stripe.taxRates.create({
    display_name: 'VAT',
    percentage: 7.7,
    inclusive: false,
  })
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id, quantity: 3 }],
    discounts: [{ coupon: once.id }, { promotion_code: code.id }],
    default_tax_rates: [vat.id],
  })
  await sandbox.clock.advance({ months: 3, hours: 1 })
  const totals = (await stripe.invoices.list({ customer: customer.id })).data.map((invoice) => [
    invoice.subtotal,
    invoice.total_discount_amounts?.reduce((sum, each) => sum + each.amount, 0),
    invoice.total_taxes?.[0]?.amount,
    invoice.total,
  ])
  expect(totals).toEqual([
    [3000, 0, 231, 3231],
    [3000, 0, 231, 3231],
    [3000, 300, 208, 2908],
    [3000, 333 + 267, 185, 2585],
  ])
  expect((await stripe.subscriptions.retrieve(subscription.id)).discounts).toEqual([])
})

it('the Stripe sandbox calculates the tax that a tax-inclusive price contains', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const vat = await stripe.taxRates.create({
    display_name: 'MwSt',
    percentage: 19,
    inclusive: true,
  })
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id, tax_rates: [vat.id] }],
    expand: ['latest_invoice'],
  })
  expect(subscription.latest_invoice).toMatchObject({
    subtotal: 1000,
    total: 1000,
    total_excluding_tax: 840,
    total_taxes: [{ amount: 160, tax_behavior: 'inclusive', taxable_amount: 840 }],
  })
})

it('the Stripe sandbox expands paths through lists and arrays without changing the stored objects', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe)
  const { monthly, product } = await seedPrices(stripe)
  const coupon = await stripe.coupons.create({ percent_off: 10, duration: 'forever' })
  const { id } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    discounts: [{ coupon: coupon.id }],
  })
  const expand = [
    'customer.invoice_settings.default_payment_method',
    'discounts.source.coupon',
    'items.data.price.product',
    'latest_invoice.payments',
  ]
  const full = await stripe.subscriptions.retrieve(id, { expand })
  expect(full).toMatchObject({
    customer: { id: customer.id, invoice_settings: { default_payment_method: { id: method.id } } },
    discounts: [{ source: { coupon: { id: coupon.id, percent_off: 10 } } }],
    items: { data: [{ price: { product: { id: product.id, name: 'Gold' } } }] },
    latest_invoice: { payments: { data: [{ status: 'paid' }] } },
  })
  const [listed] = (
    await stripe.subscriptions.list({ expand: ['data.customer', 'data.latest_invoice'] })
  ).data
  expect(listed).toMatchObject({ customer: { id: customer.id }, latest_invoice: { total: 900 } })
  const plain = await stripe.subscriptions.retrieve(id)
  expect([plain.customer, plain.discounts.length]).toEqual([customer.id, 1])
  expect(await stripe.customers.retrieve(customer.id)).toMatchObject({
    invoice_settings: { default_payment_method: method.id },
  })
})

it('the Stripe sandbox applies the filters of list calls', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe)
  const { monthly, yearly } = await seedPrices(stripe)
  for (const { id } of [monthly, yearly]) {
    await stripe.subscriptions.create({ customer: customer.id, items: [{ price: id }] })
  }
  const plans = async (params: Stripe.SubscriptionListParams) =>
    (await stripe.subscriptions.list(params)).data.map(({ items }) => items.data[0]?.price.id)
  expect(await plans({ plan: monthly.id })).toEqual([monthly.id])
  const soon = seconds('2026-03-01T00:00:00Z')
  expect(await plans({ current_period_end: { lt: soon } })).toEqual([monthly.id])
  expect(await plans({ current_period_start: { gt: soon } })).toEqual([])
  await stripe.paymentMethods.update(method.id, { allow_redisplay: 'always' })
  const methods = async (allow_redisplay: 'always' | 'limited') =>
    (await stripe.paymentMethods.list({ customer: customer.id, allow_redisplay })).data.length
  expect([await methods('always'), await methods('limited')]).toEqual([1, 0])
  const charges = await stripe.charges.list({ transfer_group: 'another' })
  expect(charges.data).toEqual([])
})

it('the Stripe sandbox expands an id to the object that its field name suggests, if objects of several kinds share the id', async () => {
  const { stripe } = await startStripeSandbox()
  await stripe.coupons.create({ id: 'gold', percent_off: 10 })
  await stripe.products.create({ id: 'gold', name: 'Gold' })
  const plan = {
    id: 'gold',
    currency: 'usd',
    amount: 1000,
    interval: 'month',
    product: 'gold',
  } as const
  await stripe.plans.create(plan)
  const price = await stripe.prices.retrieve('gold', { expand: ['product'] })
  expect(price).toMatchObject({ object: 'price', product: { object: 'product', name: 'Gold' } })
})
