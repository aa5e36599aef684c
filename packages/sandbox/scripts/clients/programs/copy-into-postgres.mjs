// An application that copies an account into Postgres with @supabase/stripe-sync-engine. See
// ../../clients.mjs
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import Stripe from 'stripe'
import { fact, listen, sandboxConfig, step, submit, until, versionOf } from './steps.mjs'

// As an ES module it does not find its migrations.
const { runMigrations, StripeSync } = createRequire(import.meta.url)('@supabase/stripe-sync-engine')
const databaseUrl = process.env.DATABASE_URL
// The API version in its README.
const apiVersion = '2020-08-27'
const stripe = new Stripe(process.env.STRIPE_KEY, sandboxConfig())
let sync
const refusals = []
const hooks = await listen(async ({ body, headers }) => {
  try {
    await sync.processWebhook(body, headers['stripe-signature'])
    return 200
  } catch (error) {
    // It stores nothing for some event types, and throws this error.
    if (error.message === 'Unhandled webhook event') return 200
    refusals.push(`${JSON.parse(body).type}: ${error.message}`)
    return 500
  }
})
fact('version', `${versionOf('@supabase/stripe-sync-engine')} with stripe ${versionOf('stripe')}`)
fact('speaks', apiVersion)

await step('migrations', () => runMigrations({ databaseUrl, schema: 'stripe' }))
// Its tables, and how the account lists their objects.
const LISTS = {
  customers: () => stripe.customers.list({ limit: 100 }),
  products: () => stripe.products.list({ limit: 100 }),
  prices: () => stripe.prices.list({ limit: 100 }),
  subscriptions: () => stripe.subscriptions.list({ limit: 100, status: 'all' }),
  subscription_schedules: () => stripe.subscriptionSchedules.list({ limit: 100 }),
  invoices: () => stripe.invoices.list({ limit: 100 }),
  charges: () => stripe.charges.list({ limit: 100 }),
  payment_intents: () => stripe.paymentIntents.list({ limit: 100 }),
  setup_intents: () => stripe.setupIntents.list({ limit: 100 }),
  refunds: () => stripe.refunds.list({ limit: 100 }),
  disputes: () => stripe.disputes.list({ limit: 100 }),
  credit_notes: () => stripe.creditNotes.list({ limit: 100 }),
  checkout_sessions: () => stripe.checkout.sessions.list({ limit: 100 }),
}
const { customer, price, subscription } = await step(
  'an account with something of everything',
  fill,
)
let before = 0
for await (const _event of stripe.events.list({ limit: 100 })) before++
const endpoint = await stripe.webhookEndpoints.create({
  url: hooks.url,
  enabled_events: ['*'],
  api_version: apiVersion,
})
sync = new StripeSync({
  poolConfig: { connectionString: databaseUrl },
  stripeSecretKey: process.env.STRIPE_KEY,
  stripeWebhookSecret: endpoint.secret,
  stripeApiVersion: apiVersion,
  autoExpandLists: true,
  backfillRelatedEntities: true,
})
// The only way to set the URL of Stripe.
sync.stripe = new Stripe(process.env.STRIPE_KEY, { ...sandboxConfig(), apiVersion })

const counts = await step('backfill of everything', async () => {
  const result = await sync.syncBackfill({ object: 'all' })
  return Object.entries(result).map(([name, done]) => [name, done?.synced ?? 0])
})
const rowsOf = async (table, where = 'true') =>
  (await sync.postgresClient.query(`select * from stripe.${table} where ${where}`)).rows

await step(`rows: ${counts.map(([name, count]) => `${name} ${count}`).join(', ')}`, async () => {
  const [invoice] = await rowsOf('invoices', `id = '${subscription.latest_invoice}'`)
  assert.equal(Number(invoice.total), 1440)
  assert.equal(invoice.subscription, subscription.id)
  assert.equal(invoice.paid, true)
  const [row] = await rowsOf('subscriptions', `id = '${subscription.id}'`)
  assert.ok(Number(row.current_period_end) > Number(row.current_period_start))
  assert.equal(row.customer, customer.id)
  assert.equal(Number(invoice.amount_paid), 1440)
  for (const [name, count] of counts) assert.ok(count > 0 || name === 'earlyFraudWarnings', name)
})

await step('each table has what the account has', async () => {
  for (const [table, list] of Object.entries(LISTS)) {
    const there = []
    for await (const { id } of list()) there.push(id)
    assert.deepEqual((await rowsOf(table)).map(({ id }) => id).sort(), there.sort(), table)
  }
  const amounts = async (table, column) =>
    (await rowsOf(table)).map((row) => Number(row[column])).sort((a, b) => a - b)
  assert.deepEqual(await amounts('charges', 'amount'), [700, 900, 1000, 1440])
  assert.deepEqual(await amounts('refunds', 'amount'), [300])
  assert.deepEqual(await amounts('disputes', 'amount'), [900])
  assert.deepEqual(await amounts('prices', 'unit_amount'), [1000])
  assert.deepEqual(await amounts('credit_notes', 'total'), [100])
})

await step('webhooks', async () => {
  await stripe.customers.update(customer.id, { name: 'Ada Lovelace' })
  await until('customer.updated', async () => {
    assert.deepEqual(refusals, [])
    const [row] = await rowsOf('customers', `id = '${customer.id}'`)
    return row.name === 'Ada Lovelace'
  })
  await stripe.subscriptions.cancel(subscription.id)
  await until('customer.subscription.deleted', async () => {
    const [row] = await rowsOf('subscriptions', `id = '${subscription.id}'`)
    return row.status === 'canceled'
  })
  assert.deepEqual(refusals, [])
  const events = []
  for await (const { id } of stripe.events.list({ limit: 100 })) events.push(id)
  const told = () => hooks.received.map(({ body }) => JSON.parse(body).id)
  const since = events.slice(0, events.length - before)
  await until('a webhook for each event', () => told().length >= since.length)
  assert.deepEqual(told().sort(), since.sort())
  for (const { body } of hooks.received) assert.equal(JSON.parse(body).api_version, apiVersion)
})

await step('forged webhooks refused', async () => {
  const [{ body, headers }] = hooks.received
  const forged = body.replace('Lovelace', 'Byron')
  await assert.rejects(sync.processWebhook(forged, headers['stripe-signature']), /signature/)
})

await step('single entities', async () => {
  await stripe.products.update(price.product, { name: 'Golden' })
  for (const id of [customer.id, price.id, price.product, subscription.latest_invoice]) {
    await sync.syncSingleEntity(id)
  }
  const [product] = await rowsOf('products', `id = '${price.product}'`)
  assert.equal(product.name, 'Golden')
})
await sync.postgresClient.pool.end()
await hooks.close()

async function fill() {
  const product = await stripe.products.create({ name: 'Gold' })
  const price = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 1000,
    recurring: { interval: 'month' },
  })
  const coupon = await stripe.coupons.create({ percent_off: 20, duration: 'forever' })
  const rate = await stripe.taxRates.create({
    display_name: 'VAT',
    percentage: 20,
    inclusive: false,
  })
  const customer = await stripe.customers.create({
    email: 'ada@example.com',
    payment_method: 'pm_card_visa',
    tax_id_data: [{ type: 'eu_vat', value: 'DE123456789' }],
  })
  const [method] = (await stripe.paymentMethods.list({ customer: customer.id })).data
  await stripe.taxIds.create({ type: 'eu_vat', value: 'DE123456789' })
  await stripe.customers.update(customer.id, {
    invoice_settings: { default_payment_method: method.id },
  })
  await stripe.setupIntents.create({
    customer: customer.id,
    payment_method: 'pm_card_visa',
    confirm: true,
    allowed_payment_method_types: ['card'],
  })
  await stripe.invoiceItems.create({ customer: customer.id, amount: 500, currency: 'usd' })
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: price.id }],
    discounts: [{ coupon: coupon.id }],
    default_tax_rates: [rate.id],
  })
  await stripe.subscriptionSchedules.create({
    customer: customer.id,
    start_date: Math.floor(Date.now() / 1000) + 30 * 86_400,
    phases: [{ items: [{ price: price.id }], duration: { interval: 'month' } }],
  })
  await stripe.creditNotes.create({
    invoice: subscription.latest_invoice,
    amount: 100,
    credit_amount: 100,
  })
  const pay = (amount, card) =>
    stripe.paymentIntents.create({
      amount,
      currency: 'usd',
      customer: customer.id,
      payment_method: card,
      allowed_payment_method_types: ['card'],
      confirm: true,
    })
  const intent = await pay(700, method.id)
  await stripe.refunds.create({ payment_intent: intent.id, amount: 300 })
  await pay(900, 'pm_card_createDispute')
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    success_url: 'https://shop.example/',
    line_items: [{ price: price.id, quantity: 1 }],
  })
  await submit(session.url, { action: 'pay', email: 'bob@example.com', card: 'pm_card_visa' })
  return { customer, price, subscription }
}
