import { expect, it } from 'vitest'
import { PAGE_CALLS } from '../../src/stripe/api/page-calls.ts'
import { TEST_CARD_NAMES } from '../../src/stripe/payments/card-numbers.ts'
import { TEST_CARDS } from '../../src/stripe/payments/test-cards.ts'
import { STRIPE_OPERATIONS } from '../../src/stripe/resources/registry.ts'
import { ROUTES } from '../../src/stripe/wire/contract.generated.ts'
import { catchStripeError, seedCustomer, startStripeSandbox } from './support.ts'

type Fields = Readonly<Record<string, string>>

interface Answer {
  readonly id: string
  readonly error?: { readonly code?: string; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

/** Opens a page with the publishable key and the sandbox's own fields. */
async function openPage() {
  const setup = await startStripeSandbox()
  const { url, publishableKey: key } = setup.sandbox.stripe
  const call = async (
    method: string,
    path: string,
    fields: Fields = {},
    headers: Fields = { origin: 'https://shop.example' },
  ) => {
    const form = new URLSearchParams({ key, ...fields })
    const inBody = method === 'POST'
    const response = await fetch(`${url}${path}${inBody ? '' : `?${form}`}`, {
      method,
      headers,
      ...(inBody ? { body: form } : {}),
    })
    const body = (await response.json()) as Answer
    return { status: response.status, headers: response.headers, body }
  }
  const type = (number: string, more: Fields = {}, origin = url) => {
    const card = { number, exp_month: '12', exp_year: '30', cvc: '123', ...more }
    const fields = Object.entries(card).map(([name, value]) => [`card[${name}]`, value])
    return call('POST', '/v1/tokens', Object.fromEntries(fields), { origin })
  }
  return { ...setup, call, type, url, key }
}

it('the Stripe sandbox allows the calls of Stripe.js with a publishable key and no others', async () => {
  const { call } = await openPage()
  const refused: string[] = []
  for (const [method, path, name] of ROUTES) {
    if (!STRIPE_OPERATIONS[name]) continue
    const { status, body, headers } = await call(method, path.replaceAll(/:\w+/g, 'x_1'))
    if (body.error?.code === 'secret_key_required') {
      expect([name, status, headers.get('access-control-allow-origin')]).toEqual([name, 401, null])
      refused.push(name)
    } else {
      // Each of these needs something in addition to the key.
      expect([name, status >= 400, body.error?.code]).toEqual([name, true, expect.anything()])
      expect(headers.get('access-control-allow-origin')).toBe('*')
    }
  }
  const version = { 'stripe-version': '2025-02-24.acacia' }
  const old = await call('GET', '/v1/invoices/upcoming/lines', {}, version)
  expect(old.body.error?.code).toBe('secret_key_required')
  const offered = ROUTES.map(([, , name]) => name).filter((name) => name in STRIPE_OPERATIONS)
  const allowed = offered.filter((name) => !refused.includes(name))
  expect(allowed.sort()).toEqual(Object.keys(PAGE_CALLS).sort())
})

it('the Stripe sandbox sends CORS headers for the calls that pages of other origins may make', async () => {
  const { url } = await openPage()
  const ask = async (path: string, method: string) => {
    const response = await fetch(`${url}${path}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': method },
    })
    return response.headers.get('access-control-allow-origin')
  }
  expect(await ask('/v1/payment_intents/pi_1/confirm', 'POST')).toBe('*')
  expect(await ask('/v1/payment_methods', 'POST')).toBe('*')
  expect(await ask('/v1/payment_methods', 'GET')).toBeNull()
  expect(await ask('/v1/customers', 'POST')).toBeNull()
})

it('the Stripe sandbox shows and confirms an intent only with its client secret, and hides the customer', async () => {
  const { stripe, call } = await openPage()
  const { customer, method } = await seedCustomer(stripe)
  const intent = await stripe.paymentIntents.create({
    amount: 1000,
    currency: 'usd',
    customer: customer.id,
    metadata: { order: '7' },
  })
  const path = `/v1/payment_intents/${intent.id}`
  const secret = { client_secret: intent.client_secret ?? '' }
  expect((await call('GET', path)).body.error?.code).toBe('parameter_missing')
  expect((await call('GET', path, { client_secret: 'pi_1_secret_2' })).body.error?.code).toBe(
    'payment_intent_invalid_parameter',
  )
  const seen = (await call('GET', path, secret)).body
  expect(seen).toMatchObject({ id: intent.id, amount: 1000, status: 'requires_payment_method' })
  for (const name of ['customer', 'metadata', 'latest_charge', 'on_behalf_of']) {
    expect(seen).not.toHaveProperty(name)
  }
  const expanded = await call('GET', path, { ...secret, 'expand[]': 'customer' })
  expect(expanded.body.error?.param).toBe('expand')
  const unattended = { ...secret, payment_method: method.id, off_session: 'true' }
  expect((await call('POST', `${path}/confirm`, unattended)).body.error?.param).toBe('off_session')
  const declined = { ...secret, payment_method: 'pm_card_chargeDeclined', use_stripe_sdk: 'true' }
  const no = await call('POST', `${path}/confirm`, declined)
  expect(no.body.error).toMatchObject({ code: 'card_declined', payment_intent: { amount: 1000 } })
  expect(no.body.error?.payment_intent).not.toHaveProperty('customer')
  const paid = { ...secret, payment_method: method.id, use_stripe_sdk: 'true' }
  expect((await call('POST', `${path}/confirm`, paid)).body).toMatchObject({ status: 'succeeded' })
})

it("the Stripe sandbox returns stored responses of idempotency keys only to the same kind of caller: a page never gets a server's response", async () => {
  const { stripe, call, url, sandbox } = await openPage()
  const intent = await stripe.setupIntents.create({ payment_method: 'pm_card_visa' })
  const path = `/v1/setup_intents/${intent.id}/confirm`
  const once = { 'idempotency-key': 'one', authorization: `Bearer ${sandbox.stripe.apiKey}` }
  await fetch(`${url}${path}`, { method: 'POST', headers: once })
  const headers = { 'idempotency-key': 'one', origin: 'https://shop.example' }
  const { body } = await call('POST', path, { client_secret: intent.client_secret ?? '' }, headers)
  expect(body.error?.code).toBe('setup_intent_unexpected_state')
})

it('the Stripe sandbox lets only the server confirm an intent with manual confirmation, before and after authentication', async () => {
  const { stripe, sandbox, call } = await openPage()
  const intent = await stripe.paymentIntents.create({
    amount: 1000,
    currency: 'usd',
    payment_method: 'pm_card_threeDSecure2Required',
    confirmation_method: 'manual',
    confirm: true,
    return_url: 'https://shop.example/done',
  })
  const fields = { client_secret: intent.client_secret ?? '' }
  const path = `/v1/payment_intents/${intent.id}/confirm`
  expect((await call('POST', path, fields)).body.error?.param).toBe('confirmation_method')
  sandbox.stripe.completeAuthentication(intent.id)
  const after = await stripe.paymentIntents.retrieve(intent.id)
  expect([after.status, sandbox.stripe.charges().length]).toEqual(['requires_confirmation', 0])
  expect((await stripe.paymentIntents.confirm(intent.id)).status).toBe('succeeded')
})

it('the Stripe sandbox accepts card numbers only from its own card fields', async () => {
  const { stripe, type } = await openPage()
  const number = '4242424242424242'
  expect((await type(number, {}, 'https://shop.example')).status).toBe(402)
  const card = { number, exp_month: '12', exp_year: '2030', cvc: '123' }
  await expect(catchStripeError(stripe.tokens.create({ card }))).resolves.toMatchObject({
    message: expect.stringContaining('generally unsafe'),
  })
  const { body } = await type('4242 4242 4242 4242', { name: 'Ada', address_zip: '10115' })
  expect(body).toMatchObject({ object: 'token', type: 'card', used: false })
  expect(await stripe.tokens.retrieve(body.id)).toMatchObject({
    card: { brand: 'Visa', last4: '4242', exp_month: 12, exp_year: 2030, address_zip: '10115' },
  })
  const method = await stripe.paymentMethods.create({ type: 'card', card: { token: body.id } })
  expect(method).toMatchObject({
    card: { brand: 'visa', exp_month: 12, exp_year: 2030 },
    billing_details: { name: 'Ada', address: { postal_code: '10115' } },
  })
  await expect(
    catchStripeError(stripe.paymentMethods.create({ type: 'card', card: { token: body.id } })),
  ).resolves.toMatchObject({ code: 'token_already_used' })
})

it("the Stripe sandbox creates a customer's source from a card token, with the id of the token's card", async () => {
  const { stripe, type } = await openPage()
  const { body } = await type('5555555555554444')
  const customer = await stripe.customers.create({ source: body.id, expand: ['default_source'] })
  const { id } = body.card as { id: string }
  expect(customer.default_source).toMatchObject({ id, brand: 'MasterCard' })
})

it.each([
  ['4242424242424241', {}, 'incorrect_number', undefined],
  ['4111111111111111', {}, 'card_declined', 'test_mode_live_card'],
  ['4242424242424242', { exp_month: '13' }, 'invalid_expiry_month', undefined],
  ['4242424242424242', { exp_year: '25' }, 'invalid_expiry_year', undefined],
  ['4242424242424242', { cvc: '12' }, 'invalid_cvc', undefined],
] as const)(
  'the Stripe sandbox rejects the card number %s with the other card details %o, with the error code %s',
  async (number, more, code, decline) => {
    const { type } = await openPage()
    const { status, body } = await type(number, more)
    expect([status, body.error?.code, body.error?.decline_code]).toEqual([402, code, decline])
  },
)

it("the Stripe sandbox recognizes the numbers of Stripe's test cards", () => {
  for (const [number, name] of Object.entries(TEST_CARD_NAMES)) {
    expect([name, TEST_CARDS[name]?.last4]).toEqual([name, number.slice(-4)])
  }
})
