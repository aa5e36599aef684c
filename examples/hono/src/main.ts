import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { connect } from '@tollgate/database'
import {
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  implicit,
  password,
  refreshToken,
} from '@tollgate/oauth'
import { createApp } from './app.ts'
import { DemoUsers } from './users.ts'

const port = Number(process.env.PORT ?? 3000)
const issuer = `http://localhost:${port}`
const folder = process.env.TOLLGATE_DATA_DIR ?? '.tollgate'
mkdirSync(folder, { recursive: true })

const users = new DemoUsers()
await users.add('1', 'demo@example.com', 'demo-password')

const oauth = createAuthorizationServer({
  issuer,
  secret: keptSecret(join(folder, 'secret')),
  database: await connect(process.env.DATABASE_URL ?? `sqlite:${join(folder, 'tollgate.db')}`),
  users,
  scopes: { 'place-orders': 'Place orders', 'check-status': 'Check order status' },
  grants: [authorizationCode(), refreshToken(), password(), implicit(), clientCredentials()],
})
await oauth.ready()

// A secret is shown once and not kept, so that each start makes a client anew.
for (const old of await oauth.clients.list()) {
  if (old.name === 'Demo client' && !old.revokedAt) await oauth.clients.revoke(old.id)
}
const { client, secret } = await oauth.clients.create({
  name: 'Demo client',
  redirect: `${issuer}/callback`,
  grants: ['password', 'refresh_token', 'authorization_code'],
})

const server = serve({ fetch: createApp(oauth, users).fetch, port }, () => {
  console.log(`
  Tollgate runs at  ${issuer}
  Sign in with      demo@example.com / demo-password
  A token:          curl -s ${issuer}/oauth/token -d grant_type=password \\
                      -d client_id=${client.id} -d client_secret=${secret} \\
                      -d username=demo@example.com -d password=demo-password --data-urlencode scope='*'
  What it opens:    curl -s ${issuer}/api/orders -H 'Authorization: Bearer <access_token>'
  Metadata:         ${issuer}/.well-known/oauth-authorization-server
`)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    oauth.close()
    server.close(() => process.exit(0))
  })
}

/** Made once and kept: tokens and stored keys depend on it. */
function keptSecret(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600 })
  return readFileSync(file, 'utf8')
}
