import { randomBytes } from 'node:crypto'
import { createBilling, isBillingError } from '@tollgate/billing'
import { forExpress as billingForExpress } from '@tollgate/billing/express'
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
import { forExpress } from '@tollgate/oauth/express'
import express, { type ErrorRequestHandler } from 'express'

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

const app = express()
const { routes, auth, scopes, scope, user, freshToken } = forExpress(oauth)
app.use(routes, billingForExpress(billing).routes) // before body parsers: a webhook's signature covers the raw bytes
app.use(express.json(), express.urlencoded())

app.get('/api/user', auth('api'), async (request, response) => {
  response.json(await user(request).find())
})
app.get(
  '/api/orders',
  auth('api'),
  scopes('place-orders', 'check-status'),
  (_request, response) => {
    response.json([{ id: 1, status: 'shipped' }])
  },
)
app.get(
  '/api/orders/status',
  auth('api'),
  scope('place-orders', 'check-status'),
  (request, response) => {
    response.json({ status: 'shipped', mayOrder: user(request).tokenCan('place-orders') })
  },
)
app.post('/api/subscription', auth('api'), scopes('place-orders'), async (request, response) => {
  const customer = await billing.user(user(request).id)
  const subscription = await customer.newSubscription('main', 'monthly').create(request.body?.card)
  response.status(201).json({ plan: subscription.providerPlan })
})
app.get('/api/subscription', auth('api'), async (request, response) => {
  const customer = await billing.user(user(request).id)
  const invoices = await customer.invoices()
  response.json({
    subscribed: await customer.subscribed('main'),
    invoices: invoices.map((invoice) => ({
      total: invoice.total(),
      pdf: `/user/invoice/${invoice.id}`,
    })),
  })
})

app.get('/', freshToken(), (_request, response) => {
  response.send(startPage(response.locals.csrfToken))
})
app.get('/login', (request, response) => {
  response.send(loginPage(request.query.return_to))
})
app.post('/login', async (request, response) => {
  const session = await accounts.signIn(request.body, request.headers.origin)
  if (session) response.setHeader('set-cookie', session.cookie).redirect(303, session.location)
  else response.status(401).send(loginPage(request.body?.return_to, 'E-mail or password is wrong.'))
})

/** A declined card is not a bug: the error has a message and an HTTP status for the caller. */
const billingErrors: ErrorRequestHandler = (error, _request, response, next) => {
  if (!isBillingError(error)) return next(error)
  response.status(error.status).json({ error: error.code, message: error.message })
}
app.use(billingErrors)

const server = app.listen(port, () => createDemoClient(oauth, payments.controlRoom))
process.once('SIGTERM', () => {
  server.close(async () => {
    await oauth.close()
    await billing.close()
    await payments.close()
    await database.close()
  })
})
