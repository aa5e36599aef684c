import { randomBytes } from 'node:crypto'
import { serve } from '@hono/node-server'
import { createBilling, isBillingError } from '@tollgate/billing'
import { forHono as billingForHono } from '@tollgate/billing/hono'
import { connect } from '@tollgate/database'
import {
  createDemoClient,
  loginPage,
  openAccounts,
  openPayments,
  startPage,
} from '@tollgate/example-shared'
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
const billing = createBilling({
  database,
  users: { table: 'users' },
  stripe: payments.stripe,
  clock: payments.clock ?? database.clock,
  handlers: {
    async handleInvoicePaymentSucceeded({ data }, { runDefault }) {
      await runDefault()
      console.log(`Webhook: invoice ${data.object.id} is paid`)
    },
  },
  authenticate: async (request) => (await accounts.fromRequest(request))?.id ?? null,
  invoice: { vendor: 'Example Ltd', product: 'Gold' },
})

const app = new Hono()
const { routes, auth, scopes, scope, freshToken } = forHono(oauth)
app.use(routes)
app.use(billingForHono(billing).routes)

app.get('/api/user', auth('api'), async (c) => c.json(await c.get('user').find()))
app.get('/api/orders', auth('api'), scopes('place-orders', 'check-status'), (c) =>
  c.json([{ id: 1, status: 'shipped' }]),
)
app.get('/api/orders/status', auth('api'), scope('place-orders', 'check-status'), (c) =>
  c.json({ status: 'shipped', mayOrder: c.get('user').tokenCan('place-orders') }),
)
app.post('/api/subscription', auth('api'), scopes('place-orders'), async (c) => {
  const { card } = await c.req.json().catch(() => ({}))
  const customer = await billing.user(c.get('user').id)
  const subscription = await customer.newSubscription('main', 'monthly').create(card)
  return c.json({ plan: subscription.providerPlan }, 201)
})
app.get('/api/subscription', auth('api'), async (c) => {
  const customer = await billing.user(c.get('user').id)
  const invoices = await customer.invoices()
  return c.json({
    subscribed: await customer.subscribed('main'),
    invoices: invoices.map((invoice) => ({
      total: invoice.total(),
      pdf: `/user/invoice/${invoice.id}`,
    })),
  })
})

app.get('/', freshToken(), (c) => c.html(startPage(c.get('csrfToken'))))
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
    await oauth.close()
    await billing.close()
    await payments.close()
    await database.close()
  })
})
