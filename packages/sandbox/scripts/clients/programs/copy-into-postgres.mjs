// An application that copies an account into Postgres with @supabase/stripe-sync-engine. See
// ../../clients.mjs
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import Stripe from 'stripe'
import { fact, listen, sandboxConfig, step, submit, until, versionOf } from './steps.mjs'

// As an ES module it does not find its migrations.
const { runMigrations, StripeSync } = createRequire(import.meta.url)('@supabase/stripe-sync-engine')
const databaseUrl = process.env.DATABASE_URL
// The version its README names.
const apiVersion = '2020-08-27'
const stripe = new Stripe(process.env.STRIPE_KEY, sandboxConfig())
let sync
const refusals = []
const hooks = await listen(async ({ body, headers }) => {
  try {
    await sync.processWebhook(body, headers['stripe-signature'])
    return 200
  } catch (error) {
    // Of some kinds it keeps nothing, and says so.
    if (error.message === 'Unhandled webhook event') return 200
    refusals.push(`${JSON.parse(body).type}: ${error.message}`)
    return 500
  }
})
fact('version', `${versionOf('@supabase/stripe-sync-engine')} with stripe ${versionOf('stripe')}`)
fact('speaks', apiVersion)

await step('migrations', () => runMigrations({ databaseUrl, schema: 'stripe' }))
const { customer, price, subscription } = await step(
  'an account with something of everything',
  fill,
)
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
// The one place where it can be told where Stripe is.
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
  for (const [name, count] of counts) assert.ok(count > 0 || name === 'earlyFraudWarnings', name)
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
})

await step('single entities', async () => {
  for (const id of [customer.id, price.id, subscription.id, subscription.latest_invoice]) {
    await sync.syncSingleEntity(id)
  }
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
