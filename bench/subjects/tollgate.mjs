import { createServer } from 'node:http'
import { connect } from '../../packages/database/dist/index.js'
import { nodeListener } from '../../packages/oauth/dist/adapters/node.js'
import {
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  dpop,
  memoryStorage,
  openid,
  pushedRequests,
  refreshToken,
} from '../../packages/oauth/dist/index.js'
import { issuer, openidScope, pkce, redirectUri, scope, users } from '../fixtures.mjs'
import { readSession, sessionCookies } from '../http.mjs'
import { poolSize } from '../storage/sql.mjs'
import { fillTokens } from './tollgate-fill.mjs'
import { createGuardedServer } from './tollgate-guarded.mjs'

/** Tollgate on `node:http`, with the default options except for those that the row names. */
export const name = 'Tollgate'

/**
 * Number of tokens that exceeds the guard's cache of twenty thousand verified tokens. Connections
 * that cycle through more tokens make it verify each time.
 */
const tokensToForget = 20_480
const tokensToRemember = 256

const openidWorkloads = ['openid', 'userinfo', 'pushed', 'dpop', 'dpopUserinfo', 'discovery']

export async function start(row, { databaseUrl }) {
  const isOpenid = openidWorkloads.includes(row.workload)
  const asked = isOpenid ? openidScope : scope
  const kept = await openStorage(row.store, databaseUrl)
  const oauth = createAuthorizationServer({
    ...kept,
    issuer,
    secret: 'a secret of the benchmark, long enough to be accepted',
    users: {
      findById: async (id) => ({ id }),
      claims: ({ id }) => ({ email: `${id}@example.com` }),
    },
    scopes: { [scope]: 'Read' },
    grants: [authorizationCode(), refreshToken(), clientCredentials()],
    accessTokenFormat: row.format === 'opaque' ? 'opaque' : 'jwt',
    ...(row.format === 'opaque' ? {} : { signingAlgorithm: row.format }),
    features: isOpenid ? [openid({ idTokenAlgorithm: row.format }), pushedRequests(), dpop()] : [],
  })
  await oauth.ready()
  if (row.workload === 'guarded') return startGuarded(oauth, row)

  const { client, secret } = await oauth.clients.create({
    name: 'Benchmark',
    redirect: redirectUri,
    grants: ['authorization_code', 'refresh_token', 'client_credentials'],
  })
  if (row.fill) await fillTokens(row, { ...kept, databaseUrl }, client.id)
  return {
    server: createServer(nodeListener(oauth, { signedIn })),
    seed: {
      client: { id: client.id, secret },
      ...(isOpenid && { scope: asked }),
      paths: {
        token: '/oauth/token',
        authorize: '/oauth/authorize',
        introspect: '/oauth/introspect',
        userinfo: '/oauth/userinfo',
        pushed: '/oauth/par',
        discovery: '/.well-known/openid-configuration',
      },
    },
    async signIn(origin) {
      const cookies = sessionCookies(users)
      for (const cookie of cookies) await approveOnce(origin, client.id, asked, cookie)
      return cookies
    },
  }
}

function signedIn(message) {
  const id = readSession(message)
  return id ? { id } : null
}

async function openStorage(store, databaseUrl) {
  if (store === 'memory') return { storage: memoryStorage() }
  // Many servers start at once, and Postgres is busy then.
  return { database: await connect(databaseUrl, { poolSize, timeout: 10_000 }) }
}

async function startGuarded(oauth, row) {
  const count = row.seen ? tokensToRemember : tokensToForget
  const tokens = []
  for (let index = 0; index < count; index++) {
    const userId = users[index % users.length]
    const { accessToken } = await oauth.tokens.createPersonal({
      userId,
      name: 'Benchmark',
      scopes: [scope],
    })
    tokens.push(accessToken)
  }
  return { server: await createGuardedServer(oauth, row), seed: { tokens } }
}

/** Approves as a user does the first time: reads the approval page and presses the button. */
async function approveOnce(origin, clientId, asked, cookie) {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: asked,
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
  })
  const page = await fetch(`${origin}/oauth/authorize?${query}`, { headers: { cookie } })
  const html = await page.text()
  const action = /action="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  const csrf = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1]
  if (!action || !csrf) throw new Error(`No approval page: ${page.status} ${html.slice(0, 200)}`)
  const answer = await fetch(new URL(action, origin), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: issuer },
    body: new URLSearchParams({ csrf_token: csrf, decision: 'approve' }),
  })
  const location = answer.headers.get('location') ?? ''
  if (!location.includes('code=')) throw new Error(`Not approved: ${answer.status} ${location}`)
}
