import { randomBytes } from 'node:crypto'
import { createBilling } from '@tollgate/billing'
import { forNext as billingForNext } from '@tollgate/billing/next'
import { connect } from '@tollgate/database'
import { createDemoClient, openAccounts, openPayments } from '@tollgate/example-shared'
import {
  authorizationCode,
  createAuthorizationServer,
  password,
  refreshToken,
} from '@tollgate/oauth'
import { forNext } from '@tollgate/oauth/next'

async function open() {
  const url = `http://localhost:${process.env.PORT ?? 3000}`
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
  await createDemoClient(oauth, payments.controlRoom)
  return { accounts, oauth, billing }
}

/**
 * Opened by the first caller: `next build` loads the route files and must not connect. Stored on
 * globalThis, because Next may load this file once for each route.
 */
const kept = globalThis as { tollgate?: ReturnType<typeof open> | undefined }

export function tollgate(): ReturnType<typeof open> {
  kept.tollgate ??= open().catch((error) => {
    kept.tollgate = undefined
    throw error
  })
  return kept.tollgate
}

export const { handlers, auth, scopes, scope, freshToken } = forNext(
  async () => (await tollgate()).oauth,
)
export const billingHandlers = billingForNext(async () => (await tollgate()).billing).handlers
