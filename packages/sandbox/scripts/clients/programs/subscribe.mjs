// An application that signs users in with better-auth and bills them with its Stripe plugin. See
// ../../clients.mjs
import assert from 'node:assert/strict'
import { stripe as stripePlugin } from '@better-auth/stripe'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import Stripe from 'stripe'
import { fact, listen, sandboxConfig, step, submit, until, versionOf } from './steps.mjs'

const stripe = new Stripe(process.env.STRIPE_KEY, sandboxConfig())
const tables = { user: [], session: [], account: [], verification: [], subscription: [] }
const origin = 'http://127.0.0.1:3000'
let auth
// Stripe's webhooks go to the plugin's own route.
const hooks = await listen(async ({ headers, body }) => {
  const response = await auth.handler(
    new Request(`${origin}/api/auth/stripe/webhook`, { method: 'POST', headers, body }),
  )
  return response.status
})
fact('version', `${versionOf('better-auth')} with stripe ${versionOf('stripe')}`)

const [gold, platinum] = await step('prices by lookup key', async () => {
  const made = []
  for (const [name, unit_amount] of [
    ['gold', 1000],
    ['platinum', 3000],
  ]) {
    const { id } = await stripe.products.create({ name })
    const recurring = { interval: 'month' }
    const price = { product: id, currency: 'usd', unit_amount, recurring, lookup_key: name }
    made.push(await stripe.prices.create(price))
  }
  fact('speaks', made[0].lastResponse.apiVersion)
  return made
})

const endpoint = await stripe.webhookEndpoints.create({
  url: hooks.url,
  enabled_events: [
    'checkout.session.completed',
    'customer.subscription.created',
    'customer.subscription.updated',
    'customer.subscription.deleted',
  ],
})
const problems = []
auth = betterAuth({
  baseURL: origin,
  secret: 'a secret for one run, of no worth to anybody',
  database: memoryAdapter(tables),
  emailAndPassword: { enabled: true },
  logger: { level: 'warn', log: (level, message) => problems.push(`${level} ${message}`) },
  plugins: [
    stripePlugin({
      stripeClient: stripe,
      stripeWebhookSecret: endpoint.secret,
      createCustomerOnSignUp: true,
      subscription: {
        enabled: true,
        plans: [
          { name: 'gold', lookupKey: 'gold', freeTrial: { days: 7 } },
          { name: 'platinum', priceId: platinum.id },
        ],
      },
    }),
  ],
})

let cookie = ''
async function call(method, path, body) {
  const response = await auth.handler(
    new Request(`${origin}/api/auth${path}`, {
      method,
      headers: { origin, cookie, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }),
  )
  const set = response.headers.getSetCookie().map((each) => each.split(';')[0])
  if (set.length > 0) cookie = set.join('; ')
  const text = await response.text()
  if (response.status >= 400) throw new Error(`${path}: ${response.status} ${text}`)
  return text === '' ? response.headers.get('location') : JSON.parse(text)
}
const listed = () => call('GET', '/subscription/list')
const row = () => tables.subscription[0]

await step('sign-up makes a customer', async () => {
  const person = { name: 'Ada', email: 'ada@example.com', password: 'a long password' }
  await call('POST', '/sign-up/email', person)
  const { data } = await stripe.customers.list({ email: person.email })
  assert.equal(data.length, 1)
  assert.equal(data[0].id, tables.user[0].stripeCustomerId)
})

await step('subscribed by Checkout, with a trial', async () => {
  const urls = { successUrl: '/done', cancelUrl: '/prices' }
  const { url } = await call('POST', '/subscription/upgrade', { plan: 'gold', ...urls })
  const back = await submit(url, { action: 'pay', email: 'ada@example.com', card: 'pm_card_visa' })
  assert.equal(await call('GET', back.slice(`${origin}/api/auth`.length)), `${origin}/done`)
  await until('the webhook', () => row()?.status === 'trialing')
  const [subscription] = await listed()
  assert.equal(subscription.plan, 'gold')
  assert.ok(subscription.trialEnd)
  assert.ok(subscription.periodEnd)
  const { latest_invoice: invoice } = await stripe.subscriptions.retrieve(
    row().stripeSubscriptionId,
    { expand: ['latest_invoice'] },
  )
  assert.deepEqual([invoice.status, invoice.total], ['paid', 0])
})

await step('upgraded in the portal', async () => {
  const upgrade = { plan: 'platinum', successUrl: '/done', cancelUrl: '/prices' }
  const { url } = await call('POST', '/subscription/upgrade', {
    ...upgrade,
    subscriptionId: row().stripeSubscriptionId,
  })
  await submit(url, { action: 'update' })
  await until('the webhook', () => row().plan === 'platinum')
  const { items } = await stripe.subscriptions.retrieve(row().stripeSubscriptionId)
  assert.equal(items.data[0].price.id, platinum.id)
  assert.equal(items.data[0].price.unit_amount, 3000)
})

await step('cancelled in the portal', async () => {
  const { url } = await call('POST', '/subscription/cancel', { returnUrl: '/account' })
  await submit(url, { action: 'cancel', subscription: row().stripeSubscriptionId })
  await until('the webhook', () => row().cancelAt ?? row().cancelAtPeriodEnd)
})

await step('restored', async () => {
  await call('POST', '/subscription/restore', { subscriptionId: row().stripeSubscriptionId })
  const kept = await stripe.subscriptions.retrieve(row().stripeSubscriptionId)
  assert.equal(kept.cancel_at, null)
  await until('the webhook', () => !row().cancelAt && !row().cancelAtPeriodEnd)
})

await step('changed at the end of the period, by a schedule', async () => {
  await call('POST', '/subscription/upgrade', {
    plan: 'gold',
    successUrl: '/done',
    cancelUrl: '/prices',
    returnUrl: '/account',
    subscriptionId: row().stripeSubscriptionId,
    scheduleAtPeriodEnd: true,
  })
  const { data } = await stripe.subscriptionSchedules.list({ customer: row().stripeCustomerId })
  assert.equal(data[0].phases.at(-1).items[0].price, gold.id)
  await call('POST', '/subscription/restore', { subscriptionId: row().stripeSubscriptionId })
  assert.equal((await stripe.subscriptionSchedules.retrieve(data[0].id)).status, 'released')
})

await step('portal', async () => {
  const { url } = await call('POST', '/subscription/billing-portal', { returnUrl: '/account' })
  assert.equal((await fetch(url)).status, 200)
})

await step('ended by Stripe', async () => {
  await stripe.subscriptions.cancel(row().stripeSubscriptionId)
  await until('the webhook', () => row().status === 'canceled')
  assert.deepEqual(await listed(), [])
})

assert.deepEqual(problems, [])

await step('forged webhook refused', async () => {
  const { body, headers } = hooks.received.at(-1)
  const forged = await auth.handler(
    new Request(`${origin}/api/auth/stripe/webhook`, {
      method: 'POST',
      headers,
      body: body.replace('"canceled"', '"active"'),
    }),
  )
  assert.equal(forged.status, 400)
  assert.equal(row().status, 'canceled')
})
await hooks.close()
