import { randomBytes } from 'node:crypto'
import { serve } from '@hono/node-server'
import { type Billing, createBilling, isBillingError } from '@tollgate/billing'
import { forHono as billingForHono } from '@tollgate/billing/hono'
import { connect } from '@tollgate/database'
import {
  createDemoClient,
  loginPage,
  openAccounts,
  openPayments,
  startPage,
} from '@tollgate/example-shared'
import { createGate, meter, plan, refreshPlans } from '@tollgate/gate'
import { forHono as gateForHono } from '@tollgate/gate/hono'
import {
  authorizationCode,
  createAuthorizationServer,
  password,
  refreshToken,
} from '@tollgate/oauth'
import { forHono } from '@tollgate/oauth/hono'
import { Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

const port = Number(process.env.PORT ?? 3000)
const url = `http://localhost:${port}`
const database = await connect(process.env.DATABASE_URL ?? 'sqlite::memory:')
const accounts = await openAccounts(database, url) // your own users and sessions
const payments = await openPayments(url) // Stripe, or the sandbox

const oauth = createAuthorizationServer({
  issuer: url,
  secret: process.env.TOLLGATE_SECRET ?? randomBytes(32).toString('base64'),
  database,
  users: accounts,
  scopes: { 'place-orders': 'Place orders', 'check-status': 'Check order status' },
  accessTokensExpireIn: '1h', // the default is a year; a leaked token should not work for long
  grants: [authorizationCode(), refreshToken(), password()],
})
const billing: Billing = createBilling({
  database,
  users: { table: 'users' },
  stripe: payments.stripe,
  clock: payments.clock ?? database.clock,
  authenticate: async (request) => (await accounts.fromRequest(request))?.id ?? null,
  on: refreshPlans(() => gate), // plans change as soon as a webhook was processed
})
const gate = createGate({
  database,
  oauth,
  billing,
  clock: payments.clock ?? database.clock,
  meters: { calls: meter({ kind: 'count' }), words: meter({ unit: 'words' }) },
  plans: {
    free: plan({ scopes: ['check-status'], quota: { calls: '5/day' } }),
    gold: plan({
      price: { stripe: 'monthly' },
      quota: { calls: '1000/month', words: '100/month' },
    }),
    platinum: plan({
      price: { stripe: 'platinum' },
      features: ['export'],
      quota: { calls: 'unlimited', words: '100000/month' },
      rate: '50/second',
    }),
  },
  otherwise: 'free',
  upgradeUrl: url,
})

const app = new Hono()
const { routes, auth, scopes } = forHono(oauth)
const { admit, feature } = gateForHono(gate)
app.use(routes)
app.use(billingForHono(billing).routes)

app.get('/api/orders', auth('api'), scopes('check-status'), admit('calls'), (c) =>
  c.json([{ id: 1, status: 'shipped' }]),
)
app.post('/api/orders', auth('api'), scopes('place-orders'), admit('calls'), (c) =>
  c.json({ id: 2 }, 201),
)
app.get('/api/export', auth('api'), feature('export'), (c) => c.text('id,status\n1,shipped\n'))
// Only the answer shows how many words it has: at most 20 are reserved, and the actual number is counted.
app.post('/api/story', auth('api'), admit('words', { reserve: 20 }), async (c) => {
  const story = 'The parcel left the warehouse on time'
  await c.get('admission').settle(story.split(' ').length)
  return c.json({ story })
})
app.get('/api/usage', auth('api'), async (c) => {
  const subject = { type: 'user', id: c.get('user').id }
  return c.json({ plan: await gate.planOf(subject), usage: await gate.usage(subject) })
})
app.post('/api/subscription', auth('api'), async (c) => {
  const { card, price = 'monthly' } = await c.req.json().catch(() => ({}))
  const customer = await billing.user(c.get('user').id)
  const current = await customer.findSubscription('main')
  const subscription = current
    ? await current.swap(price)
    : await customer.newSubscription('main', price).create(card)
  return c.json({ plan: subscription.providerPlan }, 201)
})

app.get('/', (c) => c.html(startPage(null)))
app.get('/login', (c) => c.html(loginPage(c.req.query('return_to'))))
app.post('/login', async (c) => {
  const form = await c.req.parseBody()
  const session = await accounts.signIn(form, c.req.header('origin'))
  if (!session) return c.html(loginPage(form.return_to, 'E-mail or password is wrong.'), 401)
  c.header('set-cookie', session.cookie)
  return c.redirect(session.location, 303)
})

/** A declined card is not a bug: the error has a message and an HTTP status for the caller. */
app.onError((error, c) => {
  if (!isBillingError(error)) throw error
  return c.json({ error: error.code, message: error.message }, error.status as ContentfulStatusCode)
})

const server = serve({ fetch: app.fetch, port }, () =>
  createDemoClient(oauth, payments.controlRoom),
)
process.once('SIGTERM', () => {
  server.close(async () => {
    await gate.close()
    await oauth.close()
    await billing.close()
    await payments.close()
    await database.close()
  })
})
