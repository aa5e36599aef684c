// A shop that uses any version of Stripe's SDK for Node. See ../../clients.mjs
import assert from 'node:assert/strict'
import Stripe from 'stripe'
import { step, submit, until, versionOf } from './steps.mjs'
import { createClock, openAccount } from './stripe-account.mjs'

const major = Number(versionOf('stripe').split('.')[0])

// Names that earlier versions have for the same parameters.
const promotion = (coupon) => (major < 19 ? { coupon } : { promotion: { type: 'coupon', coupon } })
const couponOf = (discount) => (major < 19 ? discount.coupon.id : discount.source.coupon)
const cards = { [major < 23 ? 'payment_method_types' : 'allowed_payment_method_types']: ['card'] }
const anchorNow = major < 23 ? 'now' : { type: 'now' }

const { stripe, hooks, receive } = await openAccount(['*'])
const clock = await createClock(stripe)

const { customer, card } = await step('customer and card', async () => {
  const customer = await stripe.customers.create({
    email: 'ada@example.com',
    name: 'Ada',
    metadata: { shop: 'node' },
    test_clock: clock.id,
  })
  const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id })
  await stripe.customers.update(customer.id, {
    invoice_settings: { default_payment_method: card.id },
  })
  return { customer, card }
})

const [gold, platinum] = await step('product and prices', async () => {
  const { id } = await stripe.products.create({ name: 'Gold' })
  const recurring = { interval: 'month' }
  const price = (unit_amount) =>
    stripe.prices.create({ product: id, currency: 'usd', unit_amount, recurring })
  const prices = [await price(1000), await price(3000)]
  assert.deepEqual(
    prices.map(({ unit_amount }) => unit_amount),
    [1000, 3000],
  )
  return prices
})

const subscription = await step('subscription with a promotion code', async () => {
  const coupon = await stripe.coupons.create({ percent_off: 20, duration: 'forever' })
  const code = await stripe.promotionCodes.create({ ...promotion(coupon.id), code: 'OFF' })
  const made = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: gold.id }],
    discounts: [{ promotion_code: code.id }],
    expand: ['latest_invoice.payments', 'discounts'],
  })
  assert.equal(made.status, 'active')
  assert.equal(made.latest_invoice.total, 800)
  assert.equal(made.latest_invoice.payments.data[0].status, 'paid')
  assert.equal(couponOf(made.discounts[0]), coupon.id)
  assert.ok(made.items.data[0].current_period_end > made.start_date)
  return made
})

await step('verified webhook', async () => {
  const event = await receive('invoice.paid', ({ type }) => type === 'invoice.paid')
  assert.equal(event.data.object.total, 800)
})

await step('preview and swap', async () => {
  const items = [{ id: subscription.items.data[0].id, price: platinum.id }]
  const preview = await stripe.invoices.createPreview({
    subscription: subscription.id,
    subscription_details: { items, proration_behavior: 'always_invoice' },
  })
  const { latest_invoice: invoice } = await stripe.subscriptions.update(subscription.id, {
    items,
    proration_behavior: 'always_invoice',
    expand: ['latest_invoice'],
  })
  assert.equal(preview.total, 1600)
  assert.equal(invoice.status, 'paid')
  assert.equal(invoice.total, 1600)
})

await step('renewal on a test clock', async () => {
  await clock.advance(subscription.items.data[0].current_period_end + 2 * 3600)
  const { data } = await stripe.invoices.list({ subscription: subscription.id, limit: 1 })
  assert.equal(data[0].billing_reason, 'subscription_cycle')
  assert.equal(data[0].status, 'paid')
  assert.equal(data[0].total, 2400)
})

await step('another anchor', async () => {
  const moved = await stripe.subscriptions.update(subscription.id, {
    billing_cycle_anchor: anchorNow,
    proration_behavior: 'none',
  })
  assert.ok(moved.billing_cycle_anchor > subscription.billing_cycle_anchor)
})

await step('payment and refund', async () => {
  const intent = await stripe.paymentIntents.create({
    amount: 700,
    currency: 'usd',
    customer: customer.id,
    payment_method: card.id,
    ...cards,
    confirm: true,
    expand: ['latest_charge.balance_transaction'],
  })
  assert.equal(intent.status, 'succeeded')
  assert.equal(intent.latest_charge.balance_transaction.fee, 50)
  assert.equal(intent.latest_charge.balance_transaction.net, 650)
  const refund = await stripe.refunds.create({ payment_intent: intent.id, amount: 300 })
  assert.equal(refund.status, 'succeeded')
  assert.equal(refund.amount, 300)
  const charge = await stripe.charges.retrieve(intent.latest_charge.id)
  assert.equal(charge.amount, 700)
  assert.equal(charge.amount_refunded, 300)
  assert.equal(charge.refunded, false)
})

await step('declined card', async () => {
  const declined = stripe.paymentIntents.create({
    amount: 700,
    currency: 'usd',
    payment_method: 'pm_card_chargeDeclined',
    ...cards,
    confirm: true,
  })
  await assert.rejects(declined, (error) => {
    assert.ok(error instanceof Stripe.errors.StripeCardError)
    assert.equal(error.code, 'card_declined')
    return true
  })
})

await step('3-D Secure', async () => {
  const intent = await stripe.paymentIntents.create({
    amount: 700,
    currency: 'usd',
    payment_method: 'pm_card_authenticationRequired',
    ...cards,
    confirm: true,
  })
  assert.equal(intent.status, 'requires_action')
  assert.equal(intent.next_action.type, 'use_stripe_sdk')
})

await step('checkout', async () => {
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    success_url: 'https://shop.example/done?session={CHECKOUT_SESSION_ID}',
    line_items: [{ price: gold.id, quantity: 2 }],
    ...cards,
  })
  const back = await submit(session.url, {
    action: 'pay',
    email: 'bob@example.com',
    card: 'pm_card_visa',
  })
  assert.equal(back, `https://shop.example/done?session=${session.id}`)
  const done = await stripe.checkout.sessions.retrieve(session.id, { expand: ['subscription'] })
  assert.equal(done.status, 'complete')
  assert.equal(done.payment_status, 'paid')
  assert.equal(done.amount_total, 2000)
  assert.equal(done.subscription.items.data[0].quantity, 2)
})

await step('portal', async () => {
  const session = await stripe.billingPortal.sessions.create({
    customer: customer.id,
    return_url: 'https://shop.example/account',
    flow_data: {
      type: 'subscription_cancel',
      subscription_cancel: { subscription: subscription.id },
    },
  })
  await submit(session.url, { action: 'cancel', subscription: subscription.id })
  const leaving = await stripe.subscriptions.retrieve(subscription.id)
  assert.equal(leaving.status, 'active')
  assert.equal(leaving.cancel_at, leaving.items.data[0].current_period_end)
})

await step('pages of lists, search, idempotency', async () => {
  for (let made = 0; made < 5; made++) {
    const key = { idempotencyKey: `tax-rate-${made}` }
    const params = { display_name: 'VAT', percentage: made + 1, inclusive: false }
    const { id } = await stripe.taxRates.create(params, key)
    assert.equal((await stripe.taxRates.create(params, key)).id, id)
  }
  const all = []
  for await (const rate of stripe.taxRates.list({ limit: 2 })) all.push(rate.percentage)
  assert.deepEqual(all, [5, 4, 3, 2, 1])
  const found = await stripe.customers.search({ query: 'metadata["shop"]:"node"' })
  assert.deepEqual(
    found.data.map(({ id }) => id),
    [customer.id],
  )
})

await step('thin events of v2', async () => {
  const destination = await stripe.v2.core.eventDestinations.create({
    name: 'Thin',
    type: 'webhook_endpoint',
    event_payload: 'thin',
    enabled_events: ['v1.product.created'],
    webhook_endpoint: { url: 'http://127.0.0.1:9/' },
  })
  const products = []
  for (let each = 0; each < 3; each++) {
    products.push((await stripe.products.create({ name: `Silver ${each}` })).id)
  }
  await stripe.v2.core.eventDestinations.del(destination.id)
  const list = async (params) => {
    const told = []
    for await (const event of stripe.v2.core.events.list(params)) {
      assert.equal(event.type, 'v1.product.created')
      told.push(event.related_object.id)
    }
    return told
  }
  assert.deepEqual(await list({ object_id: products[1] }), [products[1]])
  assert.deepEqual(await list({ limit: 1 }), products.toReversed())
  // In version 18, a rejected list leaves an unhandled promise rejection.
  const refused = stripe.rawRequest('GET', '/v2/core/events?limit=0')
  await assert.rejects(refused, { code: 'invalid_fields' })
})

await step('usage by v2', async () => {
  const meter = await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  const usage = { event_name: 'calls', payload: { stripe_customer_id: customer.id, value: '3' } }
  const { billing } = stripe.v2
  const made = await billing.meterEvents.create({ ...usage, identifier: 'once' })
  assert.equal(made.object, 'v2.billing.meter_event')
  const again = billing.meterEvents.create({ ...usage, identifier: 'once' })
  await assert.rejects(again, { code: 'duplicate_meter_event' })
  const { authentication_token: token } = await billing.meterEventSession.create()
  const { hostname, port } = new URL(process.env.STRIPE_URL)
  const stream = new Stripe(token, { host: hostname, port, protocol: 'http' })
  const events = [usage, usage]
  // Before version 22 the URL of the stream cannot be changed.
  if (major < 22) await stream.rawRequest('POST', '/v2/billing/meter_event_stream', { events })
  else await stream.v2.billing.meterEventStream.create({ events })
  await billing.meterEventAdjustments.create({
    event_name: 'calls',
    type: 'cancel',
    cancel: { identifier: 'once' },
  })
  const { frozen_time } = await stripe.testHelpers.testClocks.retrieve(clock.id)
  const at = frozen_time - (frozen_time % 60)
  const { data } = await stripe.billing.meters.listEventSummaries(meter.id, {
    customer: customer.id,
    start_time: at - 60,
    end_time: at + 60,
  })
  assert.equal(
    data.reduce((sum, { aggregated_value }) => sum + Number(aggregated_value), 0),
    6,
  )
})

await step('credit note', async () => {
  const { data } = await stripe.invoices.list({ subscription: subscription.id, limit: 1 })
  const note = await stripe.creditNotes.create({
    invoice: data[0].id,
    amount: 100,
    credit_amount: 100,
  })
  assert.equal(note.total, 100)
  assert.equal((await stripe.customers.retrieve(customer.id)).balance, -100)
})

await step('the end', async () => {
  assert.equal((await stripe.subscriptions.cancel(subscription.id)).status, 'canceled')
  assert.equal((await stripe.customers.del(customer.id)).deleted, true)
  await assert.rejects(stripe.subscriptions.retrieve('sub_none'), (error) => {
    assert.ok(error instanceof Stripe.errors.StripeInvalidRequestError)
    assert.equal(error.code, 'resource_missing')
    return true
  })
})

await step('a webhook for each event', async () => {
  const events = []
  for await (const { id } of stripe.events.list({ limit: 100 })) events.push(id)
  assert.ok(events.length > 50)
  const told = () => hooks.received.map(({ body }) => JSON.parse(body).id)
  await until('every webhook', () => told().length >= events.length)
  assert.deepEqual(told().sort(), events.sort())
})
await hooks.close()
