import { type AuditEntry, createBilling } from '@tollgate/billing'
import { connect } from '@tollgate/database'
import {
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  refreshToken,
} from '@tollgate/oauth'

// An application of its own: its users have UUIDs and columns of other names.

const environment: Readonly<Record<string, string | undefined>> = process.env

export const database = await connect(environment.APP_DATABASE_URL ?? '')

export const oauth = createAuthorizationServer({
  issuer: 'https://app.example',
  secret: 'q2Vf8RkT0mXw5Zs7Ua4Nc9Hb1Ld6Pj3E',
  database,
  users: { findById: (id) => ({ id: String(id) }) },
  scopes: { read: 'Read everything' },
  grants: [authorizationCode(), refreshToken(), clientCredentials()],
})
oauth.events.on('AccessTokenRevoked', ({ tokenId }) => {
  process.stderr.write(`listener: ${tokenId} was revoked\n`)
})

export const billing = createBilling({
  database,
  users: { table: 'users', id: 'key', idType: 'string', email: 'login', name: 'label' },
  owners: { team: { table: 'teams', id: 'id', email: 'contact', name: 'title' } },
  stripe: {
    secret: environment.APP_STRIPE_SECRET ?? 'sk_test_none',
    webhookSecret: 'whsec_1',
    config: { protocol: 'http', host: '127.0.0.1', port: environment.APP_STRIPE_PORT ?? '1' },
  },
  processEvery: false,
})

// A table of the application's own for audit entries, which each command must fill before it ends.
const keep = async ({ id, operation, outcome }: AuditEntry, source: string) => {
  await database.kysely.selectFrom('users').select('key').execute()
  process.stderr.write(`${source} event: ${outcome} ${operation} ${id}\n`)
}
oauth.events.on('AuditEntryAdded', (entry) => keep(entry, 'oauth'))
oauth.events.on('AuditEntryAdded', () => {
  throw new Error('This listener always fails')
})
billing.events.on('audit.entry', (entry) => keep(entry, 'billing'))

export const logger = {
  info: (fields: object, message: string) =>
    void process.stderr.write(`${message}: ${JSON.stringify(fields)}\n`),
}
