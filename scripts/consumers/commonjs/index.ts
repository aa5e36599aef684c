// An application in CommonJS, as TypeScript compiles it: every import becomes a require().
import { createBilling } from '@tollgate/billing'
import { forExpress as billingForExpress } from '@tollgate/billing/express'
import { connect } from '@tollgate/database'
import { createNotFoundResponse } from '@tollgate/http'
import { clientCredentials, createAuthorizationServer, isOAuthError } from '@tollgate/oauth'
import { forExpress } from '@tollgate/oauth/express'
import { movableClock } from '@tollgate/oauth/testing'
import { startSandbox } from '@tollgate/sandbox'
import express from 'express'

const people = new Map([['1', { id: '1', name: 'Ada' }]])

async function main() {
  const database = await connect('sqlite::memory:')
  const oauth = createAuthorizationServer({
    database,
    issuer: 'https://api.example.com',
    secret: 'a secret that is long enough to be accepted here',
    // Data that the application already has can be returned synchronously.
    users: { findById: (id) => people.get(id) ?? null },
    scopes: { read: 'Read' },
    grants: [clientCredentials()],
  })
  const sandbox = await startSandbox({ stripe: true })
  const billing = createBilling({
    database,
    users: { table: 'users' },
    stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1' },
    migrate: false,
  })
  const app = express()
  app.use(billingForExpress(billing).routes)
  const { routes, auth, user } = forExpress(oauth)
  app.use(routes)
  app.get('/me', auth('api'), async (request, response) => {
    const found = await user(request).find()
    const name: string | undefined = found?.name
    response.json({ name })
  })
  await oauth.ready()
  const { client } = await oauth.clients.create({ name: 'Check', grants: ['client_credentials'] })
  const isKnown: boolean = isOAuthError(new Error('no'), 'invalid_client')
  console.log(client.name, isKnown, createNotFoundResponse().status, typeof movableClock)
  await billing.close()
  await oauth.close()
  await sandbox.close()
  await database.close()
}

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
