// A shop that bills by usage records, with Stripe's SDK for Node before basil. See
// ../../clients.mjs
import assert from 'node:assert/strict'
import { step, submit } from './steps.mjs'
import { createClock, openAccount } from './stripe-account.mjs'

const { stripe, hooks, receive } = await openAccount(['invoice.paid'])
const clock = await createClock(stripe)

const customer = await step('customer and card', async () => {
  const { id } = await stripe.customers.create({
    email: 'ada@example.com',
    payment_method: 'pm_card_visa',
    invoice_settings: { default_payment_method: 'pm_card_visa' },
    test_clock: clock.id,
  })
  return id
})

const price = await step('price that is metered without a meter', async () => {
  const price = await stripe.prices.create({
    product_data: { name: 'Calls' },
    currency: 'usd',
    unit_amount: 2,
    recurring: { interval: 'month', usage_type: 'metered', aggregate_usage: 'sum' },
  })
  assert.equal(price.recurring.aggregate_usage, 'sum')
  return price.id
})

const subscription = await step('subscription', async () => {
  const made = await stripe.subscriptions.create({ customer, items: [{ price }] })
  assert.equal(made.status, 'active')
  assert.ok(made.current_period_end > made.current_period_start)
  return made
})
const item = subscription.items.data[0].id

await step('usage records', async () => {
  const use = (quantity, action) =>
    stripe.subscriptionItems.createUsageRecord(item, { quantity, action, timestamp: clock.start })
  assert.equal((await use(100, 'increment')).quantity, 100)
  assert.equal((await use(20, 'increment')).quantity, 120)
  assert.equal((await use(70, 'set')).quantity, 70)
  const { data } = await stripe.subscriptionItems.listUsageRecordSummaries(item)
  assert.equal(data[0].total_usage, 70)
})

await step('upcoming invoice', async () => {
  const upcoming = await stripe.invoices.retrieveUpcoming({ subscription: subscription.id })
  assert.equal(upcoming.total, 140)
})

await step('renewal that bills them', async () => {
  await clock.advance(subscription.current_period_end + 2 * 3600)
  const { data } = await stripe.invoices.list({ subscription: subscription.id, limit: 1 })
  assert.deepEqual([data[0].paid, data[0].total], [true, 140])
  const summaries = await stripe.subscriptionItems.listUsageRecordSummaries(item)
  assert.equal(summaries.data[1].invoice, data[0].id)
})

await step('verified webhook', async () => {
  const event = await receive('invoice.paid', ({ data }) => data.object.total === 140)
  assert.equal(event.data.object.subscription, subscription.id)
})

await step('Checkout whose subscription is there before it is paid', async () => {
  const flat = await stripe.prices.create({
    product_data: { name: 'Gold' },
    currency: 'usd',
    unit_amount: 1000,
    recurring: { interval: 'month' },
  })
  const { id, url } = await stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: flat.id, quantity: 1 }],
    success_url: 'https://shop.example/done',
  })
  const pay = (card) => submit(url, { action: 'pay', email: 'bob@example.com', card })
  await pay('pm_card_visa_chargeDeclined')
  const expand = ['subscription']
  const tried = await stripe.checkout.sessions.retrieve(id, { expand })
  assert.deepEqual([tried.status, tried.subscription.status], ['open', 'incomplete'])
  await pay('pm_card_visa')
  const paid = await stripe.checkout.sessions.retrieve(id, { expand })
  assert.deepEqual([paid.status, paid.subscription.status], ['complete', 'active'])
  assert.equal(paid.subscription.id, tried.subscription.id)
})

await step('end', async () => {
  const ended = await stripe.subscriptions.cancel(subscription.id)
  assert.equal(ended.status, 'canceled')
})

await hooks.close()
