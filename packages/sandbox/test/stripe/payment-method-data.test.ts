import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { catchStripeError, startStripeSandbox } from './support.ts'

/** The SDK's types omit the card on purpose, although Stripe accepts a token. */
function data(token: string, more: object = {}) {
  const made = { type: 'card', card: { token }, ...more }
  return {
    payment_method_data: made as unknown as Stripe.PaymentIntentCreateParams.PaymentMethodData,
  }
}

const intent = {
  amount: 1000,
  currency: 'usd',
  automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
} as const

it('the Stripe sandbox pays with an inline payment method, and saves it on request', async () => {
  const { stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({})
  const paid = await stripe.paymentIntents.create({
    ...intent,
    ...data('tok_mastercard', { billing_details: { name: 'Ada' }, metadata: { from: 'desk' } }),
    customer: customer.id,
    setup_future_usage: 'off_session',
    confirm: true,
    expand: ['payment_method'],
  })
  expect(paid).toMatchObject({
    status: 'succeeded',
    payment_method: {
      billing_details: { name: 'Ada' },
      card: { brand: 'mastercard' },
      customer: customer.id,
      metadata: { from: 'desk' },
    },
  })
  const later = await stripe.paymentIntents.create(intent)
  const updated = await stripe.paymentIntents.update(later.id, data('tok_chargeDeclined'))
  expect(updated.status).toBe('requires_confirmation')
  expect((await catchStripeError(stripe.paymentIntents.confirm(later.id))).code).toBe(
    'card_declined',
  )
  const confirmed = await stripe.paymentIntents.confirm(later.id, data('tok_visa'))
  expect(confirmed.status).toBe('succeeded')
  expect(
    (await catchStripeError(stripe.paymentIntents.update(later.id, data('tok_visa')))).code,
  ).toBe('payment_intent_unexpected_state')
})

it('the Stripe sandbox sets up an inline payment method', async () => {
  const { stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({})
  const setup = await stripe.setupIntents.create({
    ...(data('tok_visa') as object),
    customer: customer.id,
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  })
  expect(setup.status).toBe('succeeded')
  const { data: methods } = await stripe.customers.listPaymentMethods(customer.id)
  expect(methods.map(({ id }) => id)).toEqual([setup.payment_method])
})

it('the Stripe sandbox rejects two payment methods at once, numbers, other types and unknown tokens', async () => {
  const { stripe } = await startStripeSandbox()
  const create = (more: object) =>
    catchStripeError(stripe.paymentIntents.create({ ...intent, ...more }))
  const both = await create({ ...data('tok_visa'), payment_method: 'pm_card_visa' })
  expect(both.param).toBe('payment_method_data')
  expect((await create(data('tok_none'))).param).toBe('payment_method_data[card][token]')
  const number = { type: 'card', card: { number: '4242424242424242' } }
  expect((await create({ payment_method_data: number })).statusCode).toBe(402)
  expect((await create({ payment_method_data: { type: 'paypal' } })).param).toBe(
    'payment_method_data[type]',
  )
  expect((await create({ payment_method_data: { type: 'card' } })).param).toBe(
    'payment_method_data[card]',
  )
  expect((await create({ payment_method: 'tok_visa' })).message).toContain(
    'use payment_method_data with type=card and card[token]=tok_visa',
  )
})
