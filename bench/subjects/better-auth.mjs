import { createServer } from 'node:http'
import { oauthProvider } from '@better-auth/oauth-provider'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'
import { jwt, testUtils } from 'better-auth/plugins'
import { SqliteDialect } from 'kysely'
import pg from 'pg'
import { audience, openidScope, redirectUri, scope, users } from '../fixtures.mjs'
import { openSqliteFile, poolSize } from '../storage/sql.mjs'

/**
 * `better-auth` with `@better-auth/oauth-provider` and its own storage adapters. The client and the
 * resource are in its caches. A token for a resource is a JWT, any other is opaque.
 */
export const name = 'better-auth'

const baseURL = 'http://127.0.0.1/api/auth'
const openidWorkloads = ['openid', 'userinfo', 'discovery']

export async function start(row, { databaseUrl }) {
  const opaque = row.format === 'opaque'
  const isOpenid = openidWorkloads.includes(row.workload)
  const scopes = [...(isOpenid ? openidScope.split(' ') : [scope]), 'offline_access']
  const cachedTrustedClients = new Set()
  const auth = betterAuth({
    baseURL,
    secret: 'a secret of the benchmark, long enough to be accepted',
    database: openDatabase(row.store, databaseUrl),
    disabledPaths: ['/token'],
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    plugins: [
      jwt({ jwks: { keyPairConfig: { alg: opaque ? 'ES256' : row.format } } }),
      oauthProvider({
        loginPage: '/sign-in',
        consentPage: '/consent',
        scopes,
        resources: [audience],
        cachedResources: new Set([audience]),
        cachedTrustedClients,
        enforcePerClientResources: false,
        clientPrivileges: () => true,
      }),
      testUtils(),
    ],
  })
  if (row.store !== 'memory') await (await getMigrations(auth.options)).runMigrations()

  const context = await auth.$context
  const sessions = await signIn(context)
  const registered = await auth.api.adminCreateOAuthClient({
    headers: new Headers({ cookie: sessions[0].cookie }),
    body: {
      redirect_uris: [redirectUri],
      scope: scopes.join(' '),
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      client_credentials_scopes: [scope],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  })
  cachedTrustedClients.add(registered.client_id)
  for (const { userId } of sessions)
    await rememberConsent(context, userId, registered.client_id, scopes)
  // Tokens for an API cannot be used for UserInfo.
  const hasResource = !opaque && row.workload !== 'userinfo'
  const resource = hasResource ? { resource: audience } : {}
  return {
    server: createServer(toNodeHandler(auth)),
    seed: {
      client: { id: registered.client_id, secret: registered.client_secret },
      scope: scopes.join(' '),
      authorizeParameters: resource,
      tokenParameters: resource,
      cookies: sessions.map((session) => session.cookie),
      ...(!hasResource && { userinfoFormat: 'opaque' }),
      paths: {
        authorize: '/api/auth/oauth2/authorize',
        token: '/api/auth/oauth2/token',
        introspect: '/api/auth/oauth2/introspect',
        userinfo: '/api/auth/oauth2/userinfo',
        discovery: '/api/auth/.well-known/openid-configuration',
      },
    },
  }
}

async function signIn(context) {
  const sessions = []
  for (const name of users) {
    const user = context.test.createUser({ name, email: `${name}@example.com` })
    const { id: userId } = await context.test.saveUser(user)
    const { headers } = await context.test.login({ userId })
    sessions.push({ userId, cookie: headers.get('cookie') })
  }
  return sessions
}

async function rememberConsent({ adapter }, userId, clientId, scopes) {
  const now = new Date()
  const consent = {
    clientId,
    userId,
    scopes,
    resources: [audience],
    createdAt: now,
    updatedAt: now,
  }
  await adapter.create({ model: 'oauthConsent', data: consent })
}

function openDatabase(store, databaseUrl) {
  if (store === 'postgres') return new pg.Pool({ connectionString: databaseUrl, max: poolSize })
  if (store === 'sqlite')
    return {
      dialect: new SqliteDialect({ database: openSqliteFile(databaseUrl) }),
      type: 'sqlite',
    }
  const tables = ['user', 'session', 'account', 'verification', 'jwks']
  const oauth = ['Client', 'Resource', 'ClientResource', 'RefreshToken', 'AccessToken', 'Consent']
  const names = [...tables, ...oauth.map((table) => `oauth${table}`), 'oauthClientAssertion']
  return memoryAdapter(Object.fromEntries(names.map((table) => [table, []])))
}
