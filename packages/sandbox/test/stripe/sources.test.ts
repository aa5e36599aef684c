import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { catchStripeError, seedPrices, startStripeSandbox } from './support.ts'

it("the Stripe sandbox stores legacy cards and the customer's default card", async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const made = await stripe.customers.create({ source: 'tok_visa', expand: ['default_source'] })
  const first = made.default_source as Stripe.Card
  expect(first).toMatchObject({ brand: 'Visa', customer: made.id, last4: '4242', object: 'card' })
  const second = await stripe.customers.createSource(made.id, { source: 'tok_mastercard' })
  const third = await stripe.customers.createSource(made.id, { source: 'tok_amex' })
  expect(second).toMatchObject({ brand: 'MasterCard' })
  expect(third).toMatchObject({ brand: 'American Express' })
  expect(await defaultOf(stripe, made.id)).toBe(first.id)
  const { data } = await stripe.customers.listSources(made.id)
  expect(data.map(({ id }) => id)).toEqual([third.id, second.id, first.id])
  expect((await stripe.customers.listSources(made.id, { object: 'bank_account' })).data).toEqual([])
  await stripe.customers.update(made.id, { default_source: second.id })
  expect(await defaultOf(stripe, made.id)).toBe(second.id)
  await stripe.customers.deleteSource(made.id, second.id)
  // The newest of the remaining cards.
  expect(await defaultOf(stripe, made.id)).toBe(third.id)
  await stripe.customers.update(made.id, { source: 'tok_jcb' })
  const left = (await stripe.customers.listSources(made.id)).data
  expect(left.map((card) => (card as Stripe.Card).brand)).toEqual(['JCB', 'Visa'])
  expect(await defaultOf(stripe, made.id)).toBe(left[0]?.id)
  expect(sandbox.stripe.events('customer.source.created')).toHaveLength(4)
  expect(sandbox.stripe.events('customer.source.deleted')).toHaveLength(2)
  for (const card of left) await stripe.customers.deleteSource(made.id, card.id)
  expect(await defaultOf(stripe, made.id)).toBeNull()
})

it('the Stripe sandbox returns a legacy card as a payment method, which can pay', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({ source: 'tok_visa' })
  const card = String(customer.default_source)
  const methods = await stripe.paymentMethods.list({ customer: customer.id, type: 'card' })
  expect(methods.data.map(({ id }) => id)).toEqual([card])
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  expect(subscription.status).toBe('active')
  expect(sandbox.stripe.charges(customer.id)).toMatchObject([{ payment_method: card }])
  const intent = await stripe.paymentIntents.create({
    amount: 700,
    currency: 'usd',
    customer: customer.id,
    payment_method: card,
    confirm: true,
    off_session: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    expand: ['payment_method'],
  })
  expect(intent.payment_method).toMatchObject({ id: card, object: 'payment_method' })
  await stripe.paymentMethods.detach(card)
  expect(await defaultOf(stripe, customer.id)).toBeNull()
  expect(
    (await catchStripeError(stripe.customers.retrieveSource(customer.id, card))).statusCode,
  ).toBe(404)
})

it('the Stripe sandbox charges the default payment method instead of the default legacy card', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({
    source: 'tok_visa',
    payment_method: 'pm_card_mastercard',
    invoice_settings: { default_payment_method: 'pm_card_mastercard' },
  })
  const { monthly } = await seedPrices(stripe)
  await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
  expect(sandbox.stripe.charges(customer.id)).toMatchObject([
    { payment_method_details: { card: { brand: 'mastercard' } } },
  ])
})

it('the Stripe sandbox charges a past due invoice again when a new card is added as source, and no other invoice', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const customer = await stripe.customers.create({ source: 'tok_visa' })
  const { monthly } = await seedPrices(stripe)
  const { id } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
  })
  await stripe.customers.update(customer.id, { source: 'tok_chargeCustomerFail' })
  await sandbox.clock.advance({ months: 1, hours: 2 })
  const unpaid = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })
  expect(unpaid.status).toBe('past_due')
  const before = unpaid.latest_invoice as Stripe.Invoice
  const other = await stripe.customers.createSource(customer.id, { source: 'tok_mastercard' })
  await stripe.customers.update(customer.id, { default_source: other.id })
  expect((await stripe.subscriptions.retrieve(id)).status).toBe('past_due')
  await stripe.customers.update(customer.id, { source: 'tok_chargeCustomerFail' })
  const failed = await stripe.invoices.retrieve(before.id ?? '')
  expect([failed.attempt_count, failed.next_payment_attempt]).toEqual([
    before.attempt_count,
    before.next_payment_attempt,
  ])
  await stripe.customers.update(customer.id, { source: 'tok_visa' })
  expect((await stripe.subscriptions.retrieve(id)).status).toBe('active')
  expect((await stripe.invoices.retrieve(before.id ?? '')).status).toBe('paid')
})

it("the Stripe sandbox rejects other objects, other customers' cards and declined cards as sources", async () => {
  const { stripe } = await startStripeSandbox()
  const ada = await stripe.customers.create({ source: 'tok_visa' })
  const bob = await stripe.customers.create({})
  const hers = String(ada.default_source)
  for (const [call, status] of [
    [() => stripe.customers.createSource(bob.id, { source: 'tok_chargeDeclined' }), 402],
    [() => stripe.customers.createSource(bob.id, { source: 'tok_nothing' }), 400],
    [() => stripe.customers.createSource(bob.id, { source: 'src_1' }), 400],
    [() => stripe.customers.update(bob.id, { default_source: hers }), 400],
    [() => stripe.customers.update(bob.id, { default_source: 'pm_x' }), 400],
    [() => stripe.customers.retrieveSource(bob.id, hers), 404],
    [() => stripe.customers.deleteSource(bob.id, hers), 404],
    [() => stripe.customers.updateSource(ada.id, hers, { account_holder_name: 'x' }), 400],
    [() => stripe.customers.updateSource(ada.id, hers, { exp_month: '13' }), 400],
    [() => stripe.paymentMethods.attach('tok_visa', { customer: bob.id }), 400],
  ] as const)
    expect((await catchStripeError(call())).statusCode).toBe(status)
  expect((await stripe.customers.listSources(bob.id)).data).toEqual([])
  await stripe.customers.createSource(bob.id, { source: 'tok_chargeDeclined', validate: false })
  await stripe.customers.del(ada.id)
  expect((await catchStripeError(stripe.customers.listSources(ada.id))).statusCode).toBe(404)
})

async function defaultOf(stripe: Stripe, id: string) {
  return ((await stripe.customers.retrieve(id)) as Stripe.Customer).default_source
}
