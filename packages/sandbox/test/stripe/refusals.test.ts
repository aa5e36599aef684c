import { readFileSync } from 'node:fs'
import Stripe from 'stripe'
import { expect, it } from 'vitest'
import { parseForm, readParameters } from '../../src/stripe/api/parameters.ts'
import { STRIPE_OPERATIONS } from '../../src/stripe/resources/registry.ts'
import { NODES, ROUTES } from '../../src/stripe/wire/contract.generated.ts'
import { StripeFault } from '../../src/stripe/wire/errors.ts'
import { loadContract } from './conformance.ts'
import { catchStripeError, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

const OFFERED = ROUTES.filter(([, , name]) => name in STRIPE_OPERATIONS)

it("the generated table of Stripe's parameters is up to date with the installed SDK", async () => {
  const { generated } = await loadContract()
  const file = new URL('../../src/stripe/wire/contract.generated.ts', import.meta.url)
  expect(generated).toBe(readFileSync(file, 'utf8'))
})

it('the Stripe sandbox rejects an unknown parameter in every supported call', async () => {
  const { sandbox } = await startStripeSandbox()
  for (const [method, path] of OFFERED) {
    const url = `${sandbox.stripe.url}${path.replaceAll(/:\w+/g, 'x')}`
    const response =
      method === 'POST'
        ? await post(sandbox.stripe, path.replaceAll(/:\w+/g, 'x'), 'zzz=1')
        : await fetch(`${url}?zzz=1`, {
            method,
            headers: { authorization: `Bearer ${sandbox.stripe.apiKey}` },
          })
    const { error } = (await response.json()) as {
      error: { code: string; param: string; message: string }
    }
    expect([response.status, error.code, error.param], `${method} ${path}`).toEqual([
      400,
      'parameter_unknown',
      'zzz',
    ])
  }
})

it('the Stripe sandbox rejects unknown fields and wrong types at every depth of every call', () => {
  let checked = 0
  for (const [, path, name, node] of OFFERED) {
    for (const { form, expected } of wrongForms(node, '', 0)) {
      const fault = catchFault(() => readParameters(node, parseForm(form)))
      expect(fault?.status, `${name} ${path} ${form}`).toBe(400)
      if (expected) expect(fault?.body.code, `${name} ${form}`).toBe(expected)
      checked++
    }
  }
  expect(checked).toBeGreaterThan(2000)
})

function catchFault(run: () => unknown): StripeFault | null {
  try {
    run()
  } catch (error) {
    if (error instanceof StripeFault) return error
    throw error
  }
  return null
}

type Node = string | number | Record<string, unknown>

/**
 * Yields a wrong form for every object (an unknown field) and every number, boolean and enum in a
 * type.
 */
function* wrongForms(
  ref: Node,
  path: string,
  depth: number,
): Generator<{ form: string; expected: string | null }> {
  const node = (typeof ref === 'number' ? NODES[ref] : ref) as Node
  if (depth > 5) return
  if (typeof node === 'string') {
    if (node !== 's' && path !== '') yield { form: `${path}=wrong!`, expected: null }
    return
  }
  if (typeof node !== 'object') return
  if ('e' in node) yield { form: `${path}=wrong!`, expected: null }
  if ('z' in node) yield* wrongForms(node.z as Node, path, depth)
  if ('a' in node) yield* wrongForms(node.a as Node, `${path}[0]`, depth + 1)
  if ('o' in node) {
    yield { form: path === '' ? 'zzz=1' : `${path}[zzz]=1`, expected: 'parameter_unknown' }
    for (const [key, child] of Object.entries(node.o as Record<string, Node>)) {
      yield* wrongForms(child, path === '' ? key : `${path}[${key}]`, depth + 1)
    }
  }
}

function post(
  handle: { url: string; apiKey: string },
  path: string,
  body: string,
  headers: Record<string, string> = {},
) {
  return fetch(`${handle.url}${path}`, {
    method: 'POST',
    body,
    headers: {
      authorization: `Bearer ${handle.apiKey}`,
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
  })
}

it('the Stripe sandbox rejects wrong keys, unknown routes and invalid bodies like Stripe', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const handle = sandbox.stripe
  const wrong = new Stripe('sk_test_0123456789abcdef', handle.config)
  const unauthorized = await catchStripeError(wrong.customers.list())
  expect(unauthorized).toBeInstanceOf(Stripe.errors.StripeAuthenticationError)
  expect(unauthorized.message).toBe('Invalid API Key provided: sk_test_************cdef')
  expect((await fetch(`${handle.url}/v1/customers`)).status).toBe(401)
  expect((await catchStripeError(stripe.mandates.retrieve('mandate_x'))).message).toContain(
    'Unrecognized request URL (GET: /v1/mandates/mandate_x)',
  )
  for (const [body, headers] of [
    ['{"email":"a@b.c"}', { 'content-type': 'application/json' }],
    ['email=%E0%A4%A', {}],
    ['email[a=1', {}],
    ['email[a]=1&email=2', {}],
    ['email=1&email[a]=2', {}],
    ['metadata=x', {}],
    ['__proto__[a]=1', {}],
    ['constructor=1', {}],
    [`description=${'x'.repeat(6000)}`, {}],
  ] as const) {
    const response = await post(handle, '/v1/customers', body, headers)
    const refusal = (await response.json()) as { error: { type: string } }
    expect([response.status, refusal.error.type], body.slice(0, 40)).toEqual([
      400,
      'invalid_request_error',
    ])
  }
  const large = await post(handle, '/v1/customers', `description=${'x'.repeat(2_000_000)}`)
  expect([large.status, await large.json()]).toMatchObject([
    413,
    { error: { type: 'invalid_request_error' } },
  ])
  expect(
    (
      await fetch(`${handle.url}/v1/customers/%E0%A4%A`, {
        headers: { authorization: `Bearer ${handle.apiKey}` },
      })
    ).status,
  ).toBe(404)
  expect((await stripe.customers.list()).data).toEqual([])
})

it('the Stripe sandbox rejects requests whose parameters are valid but impossible, as Stripe does', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe)
  const { monthly, product } = await seedPrices(stripe)
  const once = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 100,
  })
  const eur = await stripe.prices.create({
    product: product.id,
    currency: 'eur',
    unit_amount: 100,
    recurring: { interval: 'month' },
  })
  const asleep = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 100,
    recurring: { interval: 'month' },
    active: false,
  })
  const bare = await stripe.customers.create({})
  const items = [{ price: monthly.id }]
  const subscription = await stripe.subscriptions.create({ customer: customer.id, items })
  const paid = await stripe.invoices.retrieve(String(subscription.latest_invoice))
  const cases: Array<[string, () => Promise<unknown>, number, string | undefined]> = [
    ['no customer', () => stripe.subscriptions.create({ items }), 400, 'parameter_missing'],
    [
      'unknown customer',
      () => stripe.subscriptions.create({ customer: 'cus_x', items }),
      400,
      'resource_missing',
    ],
    [
      'unknown price',
      () => stripe.subscriptions.create({ customer: customer.id, items: [{ price: 'price_x' }] }),
      400,
      'resource_missing',
    ],
    [
      'one-time price',
      () => stripe.subscriptions.create({ customer: customer.id, items: [{ price: once.id }] }),
      400,
      undefined,
    ],
    [
      'inactive price',
      () => stripe.subscriptions.create({ customer: customer.id, items: [{ price: asleep.id }] }),
      400,
      undefined,
    ],
    [
      'two currencies',
      () =>
        stripe.subscriptions.create({
          customer: customer.id,
          items: [...items, { price: eur.id }],
        }),
      400,
      undefined,
    ],
    [
      'same price twice',
      () => stripe.subscriptions.create({ customer: customer.id, items: [...items, ...items] }),
      400,
      undefined,
    ],
    [
      'no card',
      () => stripe.subscriptions.create({ customer: bare.id, items }),
      400,
      'resource_missing',
    ],
    [
      'trial in the past',
      () => stripe.subscriptions.create({ customer: customer.id, items, trial_end: 1 }),
      400,
      undefined,
    ],
    [
      'trial too long',
      () => stripe.subscriptions.create({ customer: customer.id, items, trial_end: 1_900_000_000 }),
      400,
      undefined,
    ],
    [
      'two trials',
      () =>
        stripe.subscriptions.create({
          customer: customer.id,
          items,
          trial_end: 1_780_000_000,
          trial_period_days: 3,
        }),
      400,
      undefined,
    ],
    [
      'unknown coupon',
      () =>
        stripe.subscriptions.create({
          customer: customer.id,
          items,
          discounts: [{ coupon: 'NO' }],
        }),
      400,
      'resource_missing',
    ],
    [
      'somebody’s card',
      () =>
        stripe.subscriptions.create({
          customer: bare.id,
          items,
          default_payment_method: method.id,
        }),
      400,
      'resource_missing',
    ],
    [
      'pending on create',
      () =>
        stripe.subscriptions.create({
          customer: customer.id,
          items,
          payment_behavior: 'pending_if_incomplete',
        }),
      400,
      undefined,
    ],
    [
      'bad enum',
      () =>
        stripe.subscriptions.create({ customer: customer.id, items, payment_behavior: 'later' }),
      400,
      undefined,
    ],
    ['unknown subscription', () => stripe.subscriptions.retrieve('sub_x'), 404, 'resource_missing'],
    [
      'foreign item',
      () => stripe.subscriptions.update(subscription.id, { items: [{ id: 'si_x', quantity: 2 }] }),
      400,
      'resource_missing',
    ],
    [
      'last item',
      () => stripe.subscriptionItems.del(subscription.items.data[0]?.id ?? ''),
      400,
      undefined,
    ],
    ['resume an active one', () => stripe.subscriptions.resume(subscription.id), 400, undefined],
    ['pay twice', () => stripe.invoices.pay(paid.id ?? ''), 400, 'invoice_already_paid'],
    [
      'void a paid one',
      () => stripe.invoices.voidInvoice(paid.id ?? ''),
      400,
      'invoice_not_editable',
    ],
    ['delete a paid one', () => stripe.invoices.del(paid.id ?? ''), 400, 'invoice_not_editable'],
    [
      'finalize twice',
      () => stripe.invoices.finalizeInvoice(paid.id ?? ''),
      400,
      'invoice_not_editable',
    ],
    [
      'amount too small',
      () => stripe.paymentIntents.create({ amount: 10, currency: 'usd' }),
      400,
      'amount_too_small',
    ],
    [
      'unknown currency',
      () => stripe.paymentIntents.create({ amount: 1000, currency: 'xxx' }),
      400,
      undefined,
    ],
    [
      'confirm without a card',
      () => stripe.paymentIntents.create({ amount: 1000, currency: 'usd', confirm: true }),
      400,
      'payment_intent_unexpected_state',
    ],
    [
      'off session only',
      () => stripe.paymentIntents.create({ amount: 1000, currency: 'usd', off_session: true }),
      400,
      undefined,
    ],
    [
      'card number',
      () =>
        stripe.paymentMethods.create({
          type: 'card',
          card: { number: '4242424242424242', exp_month: 1, exp_year: 2030 },
        }),
      402,
      undefined,
    ],
    ['percent over 100', () => stripe.coupons.create({ percent_off: 101 }), 400, undefined],
    ['no amount off', () => stripe.coupons.create({}), 400, undefined],
    [
      'negative price',
      () => stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: -1 }),
      400,
      'parameter_invalid_integer',
    ],
    ['used product', () => stripe.products.del(product.id), 400, undefined],
    ['page of 0', () => stripe.customers.list({ limit: 0 }), 400, 'parameter_invalid_integer'],
    ['page of 101', () => stripe.customers.list({ limit: 101 }), 400, 'parameter_invalid_integer'],
    [
      'unknown cursor',
      () => stripe.customers.list({ starting_after: 'cus_x' }),
      400,
      'resource_missing',
    ],
    ['bad expand', () => stripe.customers.list({ expand: ['data.email'] }), 400, undefined],
    [
      'bad expand of nothing',
      () => stripe.subscriptions.retrieve(subscription.id, { expand: ['foo.bar'] }),
      400,
      undefined,
    ],
    [
      'deep expand',
      () => stripe.subscriptions.retrieve(subscription.id, { expand: ['a.b.c.d.e'] }),
      400,
      'property_expansion_max_depth',
    ],
    [
      'empty name',
      () => stripe.products.update(product.id, { name: '' }),
      400,
      'parameter_invalid_empty',
    ],
    [
      'tax over 100',
      () => stripe.taxRates.create({ display_name: 'x', percentage: 120, inclusive: false }),
      400,
      undefined,
    ],
    ['no clock', () => stripe.customers.create({ test_clock: 'clock_x' }), 400, 'resource_missing'],
    [
      'bad url',
      () => stripe.webhookEndpoints.create({ url: 'nowhere', enabled_events: ['*'] }),
      400,
      'url_invalid',
    ],
    [
      'refund of nothing',
      () => stripe.refunds.create({ payment_intent: 'pi_x' }),
      400,
      'resource_missing',
    ],
    ['mail', () => stripe.customers.create({ email: 'nobody' }), 400, 'email_invalid'],
  ]
  const before = JSON.stringify(
    Object.entries(sandbox.snapshot().store.tables).filter(
      ([name]) => !name.includes('idempotency'),
    ),
  )
  for (const [name, call, status, code] of cases) {
    const error = await catchStripeError(call())
    expect([error.statusCode, error.code], name).toEqual([status, code])
    expect(error.requestId, name).toMatch(/^req_/)
  }
  const after = JSON.stringify(
    Object.entries(sandbox.snapshot().store.tables).filter(
      ([name]) => !name.includes('idempotency'),
    ),
  )
  expect(after).toBe(before)
})

it.each([
  ['usd', 49, 'Amount must be at least $0.50 usd'],
  ['gbp', 29, 'Amount must be at least £0.30 gbp'],
  ['jpy', 49, 'Amount must be at least ¥50 jpy'],
  ['sek', 299, 'Amount must be at least 3.00 sek'],
])(
  "the Stripe sandbox rejects a charge in %s below the minimum with Stripe's message",
  async (currency, amount, message) => {
    const { stripe } = await startStripeSandbox()
    expect(
      await catchStripeError(stripe.paymentIntents.create({ amount, currency })),
    ).toMatchObject({
      code: 'amount_too_small',
      message,
    })
  },
)

it.each(['bhd', 'jod', 'kwd', 'omr', 'tnd'])(
  'the Stripe sandbox rejects an amount in %s whose third decimal is not 0',
  async (currency) => {
    const { stripe } = await startStripeSandbox()
    const create = (amount: number) => stripe.paymentIntents.create({ amount, currency })
    expect(await catchStripeError(create(5125))).toMatchObject({ statusCode: 400, param: 'amount' })
    expect((await create(5120)).amount).toBe(5120)
  },
)

it('the Stripe sandbox rejects amounts in a three-decimal currency whose last digit is not 0, on every route', async () => {
  const { stripe } = await startStripeSandbox()
  const currency = 'kwd'
  const { customer } = await seedCustomer(stripe)
  const { id: product } = await stripe.products.create({ name: 'Gold' })
  const recurring = { interval: 'month' } as const
  const price = (unit_amount: number) => ({ currency, product, recurring, unit_amount })
  const paid = await stripe.paymentIntents.create({
    amount: 5120,
    currency,
    payment_method: 'pm_card_visa',
    confirm: true,
    return_url: 'https://shop.example/done',
  })
  const held = await stripe.paymentIntents.create({
    amount: 5120,
    currency,
    payment_method: 'pm_card_visa',
    capture_method: 'manual',
    confirm: true,
    return_url: 'https://shop.example/done',
  })
  const waiting = await stripe.paymentIntents.create({ amount: 5120, currency })
  const dollars = await stripe.paymentIntents.create({ amount: 5125, currency: 'usd' })
  const coupon = await stripe.coupons.create({ amount_off: 500, currency })
  const invoice = await stripe.invoices.create({ customer: customer.id, currency })
  const item = await stripe.invoiceItems.create({
    customer: customer.id,
    invoice: invoice.id,
    amount: 5120,
    currency,
  })
  const { id: open } = await stripe.invoices.finalizeInvoice(invoice.id)
  const dear = { ...price(5120), currency: 'usd' }
  const routes: ReadonlyArray<
    readonly [param: string, call: (amount: number) => Promise<unknown>]
  > = [
    ['amount', (amount) => stripe.paymentIntents.update(waiting.id, { amount })],
    ['amount_to_capture', (n) => stripe.paymentIntents.capture(held.id, { amount_to_capture: n })],
    ['amount', (amount) => stripe.refunds.create({ payment_intent: paid.id, amount })],
    ['amount', (amount) => stripe.refunds.create({ charge: `${paid.latest_charge}`, amount })],
    ['unit_amount', (n) => stripe.prices.create(price(n))],
    [
      'unit_amount_decimal',
      (n) =>
        stripe.prices.create({
          currency: 'KWD',
          product,
          unit_amount_decimal: `${n}` as unknown as Stripe.Decimal,
        }),
    ],
    [
      'currency_options[kwd][unit_amount]',
      (n) => stripe.prices.create({ ...dear, currency_options: { kwd: { unit_amount: n } } }),
    ],
    [
      'tiers[0][flat_amount]',
      (n) =>
        stripe.prices.create({
          currency,
          product,
          recurring,
          billing_scheme: 'tiered',
          tiers_mode: 'graduated',
          tiers: [{ up_to: 'inf', flat_amount: n, unit_amount: 10 }],
        }),
    ],
    ['amount', (amount) => stripe.plans.create({ amount, currency, product, interval: 'month' })],
    [
      'items[0][price_data][unit_amount]',
      (n) =>
        stripe.subscriptions.create({
          customer: customer.id,
          items: [{ price_data: price(n) }],
          payment_behavior: 'default_incomplete',
        }),
    ],
    [
      'line_items[0][price_data][unit_amount]',
      (n) =>
        stripe.checkout.sessions.create({
          mode: 'payment',
          success_url: 'https://shop.example/done',
          line_items: [{ quantity: 1, price_data: { currency, product, unit_amount: n } }],
        }),
    ],
    ['amount_off', (n) => stripe.coupons.create({ amount_off: n, currency })],
    [
      'restrictions[minimum_amount]',
      (n) =>
        stripe.promotionCodes.create({
          promotion: { type: 'coupon', coupon: coupon.id },
          restrictions: { minimum_amount: n, minimum_amount_currency: currency },
        }),
    ],
    ['amount', (amount) => stripe.invoiceItems.create({ customer: customer.id, amount, currency })],
    [
      'amount',
      async (amount) => {
        const { id } = await stripe.invoiceItems.create({
          customer: customer.id,
          amount: 100,
          currency,
        })
        return stripe.invoiceItems.update(id, { amount })
      },
    ],
    ['amount', (amount) => stripe.creditNotes.create({ invoice: open, amount })],
    [
      'amount',
      (amount) => stripe.customers.createBalanceTransaction(customer.id, { amount, currency }),
    ],
    ['balance', (balance) => stripe.customers.update(customer.id, { balance })],
  ]
  expect(item.currency).toBe(currency)
  for (const [param, call] of routes) {
    expect(await catchStripeError(call(1235)), String(call)).toMatchObject({
      statusCode: 400,
      code: 'parameter_invalid_integer',
      param,
    })
    await expect(call(1230), String(call)).resolves.toBeDefined()
  }
  const { id } = await stripe.prices.create({
    currency,
    product,
    unit_amount_decimal: '0.5' as unknown as Stripe.Decimal,
    metadata: { amount: '5', currency },
  })
  expect(id).toMatch(/^price_/)
  const turned = stripe.paymentIntents.update(dollars.id, { currency })
  expect(await catchStripeError(turned)).toMatchObject({ param: 'amount' })
})

it('the Stripe sandbox rejects a payment method of another customer: the message names both customers, or only the owner if the call names no customer', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer, method } = await seedCustomer(stripe)
  const other = await stripe.customers.create()
  const belongs = (kind: string) =>
    `The payment method supplied (${method.id}) belongs to the Customer ${customer.id}. Please include the Customer in the \`customer\` parameter on the ${kind}.`
  const foreign = `The PaymentMethod ${method.id} does not belong to the Customer you supplied ${other.id}. Please use this PaymentMethod with the Customer that it belongs to instead.`
  const pay = (params: object) =>
    stripe.paymentIntents.create({
      amount: 500,
      currency: 'usd',
      payment_method: method.id,
      ...params,
    })
  const setUp = (params: object) =>
    stripe.setupIntents.create({ payment_method: method.id, ...params })
  expect((await catchStripeError(pay({}))).message).toBe(belongs('PaymentIntent'))
  expect((await catchStripeError(setUp({}))).message).toBe(belongs('SetupIntent'))
  for (const use of [pay, setUp]) {
    expect(await catchStripeError(use({ customer: other.id }))).toMatchObject({
      message: foreign,
      param: 'payment_method',
    })
  }
  expect((await pay({ customer: customer.id })).status).toBe('requires_confirmation')
})

it('the Stripe sandbox responds to a call without an API key with WWW-Authenticate, and indents JSON', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { url, apiKey } = sandbox.stripe
  for (const headers of [{}, { authorization: 'Bearer sk_test_wrong' }] as const) {
    const refused = await fetch(`${url}/v1/customers`, { headers })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe('Basic realm="Stripe"')
    expect(await refused.text()).toMatch(/^\{\n {2}"error": \{\n {4}"type"/)
  }
  const { id } = await stripe.customers.create()
  const headers = { authorization: `Bearer ${apiKey}` }
  const found = await fetch(`${url}/v1/customers/${id}`, { headers })
  expect(found.headers.get('www-authenticate')).toBeNull()
  const text = await found.text()
  expect(text).toBe(JSON.stringify(JSON.parse(text), null, 2))
})
