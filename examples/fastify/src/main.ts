import { randomBytes } from 'node:crypto'
import { createBilling, isBillingError } from '@tollgate/billing'
import { forFastify as billingForFastify } from '@tollgate/billing/fastify'
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
import { forFastify } from '@tollgate/oauth/fastify'
import fastify from 'fastify'

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

const app = fastify()
const { routes, auth, scopes, scope, user, freshToken } = forFastify(oauth)
app.register(routes)
app.register(billingForFastify(billing).routes)
app.addContentTypeParser(
  'application/x-www-form-urlencoded',
  { parseAs: 'string' },
  async (_: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
)

app.get('/api/user', { onRequest: auth('api') }, (request) => user(request).find())
app.get(
  '/api/orders',
  { onRequest: [auth('api'), scopes('place-orders', 'check-status')] },
  async () => [{ id: 1, status: 'shipped' }],
)
app.get(
  '/api/orders/status',
  { onRequest: [auth('api'), scope('place-orders', 'check-status')] },
  async (request) => ({ status: 'shipped', mayOrder: user(request).tokenCan('place-orders') }),
)
app.post<{ Body?: { card?: string } }>(
  '/api/subscription',
  { onRequest: [auth('api'), scopes('place-orders')] },
  async (request, reply) => {
    const customer = await billing.user(user(request).id)
    const subscription = await customer
      .newSubscription('main', 'monthly')
      .create(request.body?.card)
    return reply.code(201).send({ plan: subscription.providerPlan })
  },
)
app.get('/api/subscription', { onRequest: auth('api') }, async (request) => {
  const customer = await billing.user(user(request).id)
  const invoices = await customer.invoices()
  return {
    subscribed: await customer.subscribed('main'),
    invoices: invoices.map((invoice) => ({
      total: invoice.total(),
      pdf: `/user/invoice/${invoice.id}`,
    })),
  }
})

app.get('/', { onRequest: freshToken() }, (request, reply) =>
  reply.type('text/html').send(startPage(request.csrfToken)),
)
app.get<{ Querystring: { return_to?: string } }>('/login', (request, reply) =>
  reply.type('text/html').send(loginPage(request.query.return_to)),
)
app.post<{ Body?: Record<string, string> }>('/login', async (request, reply) => {
  const session = await accounts.signIn(request.body, request.headers.origin)
  if (session) return reply.header('set-cookie', session.cookie).redirect(session.location, 303)
  const page = loginPage(request.body?.return_to, 'E-mail or password is wrong.')
  return reply.code(401).type('text/html').send(page)
})

/** A declined card is not a bug: the error has a message and an HTTP status for the caller. */
app.setErrorHandler((error, _request, reply) => {
  if (!isBillingError(error)) throw error
  reply.code(error.status).send({ error: error.code, message: error.message })
})

await app.listen({ port, host: 'localhost' })
await createDemoClient(oauth, payments.controlRoom)
process.once('SIGTERM', async () => {
  await app.close()
  await oauth.close()
  await billing.close()
  await payments.close()
  await database.close()
})
