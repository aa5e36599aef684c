import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import {
  audience,
  client,
  issuer,
  openidScope,
  pkce,
  redirectUri,
  scope,
  users,
} from '../fixtures.mjs'
import { createKey } from '../keys.mjs'
import { openSql } from '../storage/sql.mjs'

/**
 * `oidc-provider` with clients in its configuration, one table for everything else, and refresh
 * tokens that rotate. Its own in-memory adapter keeps only a thousand entries, so the memory rows
 * use a map instead.
 */
export const name = 'oidc-provider'

const openidWorkloads = ['openid', 'userinfo', 'pushed', 'dpop', 'dpopUserinfo', 'discovery']

export async function start(row, { databaseUrl }) {
  const opaque = row.format === 'opaque'
  const key = createKey(opaque ? 'ES256' : row.format)
  const isOpenid = openidWorkloads.includes(row.workload)
  const asked = isOpenid ? openidScope : scope
  // Tokens for an API cannot be used for UserInfo.
  const hasResource = !opaque && !row.workload.toLowerCase().includes('userinfo')
  const provider = new Provider(issuer, {
    adapter: await createAdapter(row.store, databaseUrl),
    jwks: { keys: [key.privateJwk] },
    cookies: { keys: [randomUUID()] },
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        response_types: ['code'],
        id_token_signed_response_alg: key.alg,
        scope: asked,
      },
    ],
    scopes: asked.split(' '),
    claims: { openid: ['sub'], email: ['email'] },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com` }),
    }),
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    expiresWithSession: () => false,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      pushedAuthorizationRequests: { enabled: row.workload === 'pushed' },
      dPoP: { enabled: row.workload.startsWith('dpop') },
      resourceIndicators: {
        enabled: hasResource,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope,
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: key.alg } },
        }),
      },
    },
    ttl: {
      AccessToken: 3600,
      AuthorizationCode: 60,
      ClientCredentials: 3600,
      Grant: 86400,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 86400,
      Session: 86400,
    },
  })
  provider.proxy = true
  const handle = provider.callback()
  const server = createServer(async (request, response) => {
    if (!request.url.startsWith('/interaction/')) return handle(request, response)
    await approve(provider, request, response, asked)
  })
  return {
    server,
    seed: {
      ...(isOpenid && { scope: asked }),
      origin: 'http://127.0.0.1',
      ...(!hasResource && { userinfoFormat: 'opaque' }),
      paths: {
        authorize: '/auth',
        token: '/token',
        introspect: '/token/introspection',
        userinfo: '/me',
        pushed: '/request',
        discovery: '/.well-known/openid-configuration',
      },
    },
    signIn: (origin) => Promise.all(users.map((user) => signIn(origin, user, asked))),
  }
}

/** Replaces the application's sign-in and consent pages: signs this user in and approves. */
async function approve(provider, request, response, asked) {
  const { params } = await provider.interactionDetails(request, response)
  const accountId = params.login_hint
  const grant = new provider.Grant({ accountId, clientId: params.client_id })
  grant.addOIDCScope(asked)
  grant.addResourceScope(audience, scope)
  const consent = { grantId: await grant.save() }
  await provider.interactionFinished(request, response, { login: { accountId }, consent })
}

/** Takes a browser through sign-in and consent once. Afterwards its cookies are enough. */
async function signIn(origin, user, asked) {
  const jar = new Map()
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    scope: asked,
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    login_hint: user,
  })
  let url = `${origin}/auth?${query}`
  for (let hop = 0; hop < 6; hop++) {
    const cookie = [...jar].map(([key, value]) => `${key}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [key, value] = set.split(';', 1)[0].split('=')
      if (value) jar.set(key, value)
      else jar.delete(key)
    }
    const location = response.headers.get('location')
    if (!location) throw new Error(`Sign-in stopped: ${response.status} ${await response.text()}`)
    if (location.startsWith(redirectUri)) {
      if (!location.includes('code=')) throw new Error(`Sign-in failed: ${location}`)
      return [...jar]
        .filter(([key]) => key.startsWith('_session'))
        .map(([key, value]) => `${key}=${value}`)
        .join('; ')
    }
    url = location.startsWith('/') ? origin + location : location.replace(issuer, origin)
  }
  throw new Error('Sign-in went round in circles')
}

async function createAdapter(store, databaseUrl) {
  if (store === 'memory') return createMemoryAdapter()
  const sql = openSql(store, databaseUrl)
  const json = sql.dialect === 'postgres' ? 'JSONB' : 'TEXT'
  await sql.execute(`CREATE TABLE payloads (id TEXT, type TEXT, payload ${json} NOT NULL,
      grant_id TEXT, uid TEXT, expires_at BIGINT, consumed_at BIGINT, PRIMARY KEY (id, type));
    CREATE INDEX payloads_grant ON payloads (grant_id);
    CREATE INDEX payloads_uid ON payloads (uid);`)
  const parse = (row) => {
    if (!row || (row.expires_at && Number(row.expires_at) < Date.now())) return undefined
    const payload = typeof row.payload === 'string' ? JSON.parse(row.payload) : row.payload
    return row.consumed_at ? { ...payload, consumed: Number(row.consumed_at) } : payload
  }
  const select = 'SELECT payload, expires_at, consumed_at FROM payloads'
  return (type) => ({
    async upsert(id, payload, expiresIn) {
      await sql.query(
        `INSERT INTO payloads (id, type, payload, grant_id, uid, expires_at)
          VALUES ($1, $2, $3, $4, $5, $6)
          ON CONFLICT (id, type) DO UPDATE SET payload = excluded.payload,
          grant_id = excluded.grant_id, uid = excluded.uid, expires_at = excluded.expires_at`,
        [
          id,
          type,
          JSON.stringify(payload),
          payload.grantId ?? null,
          payload.uid ?? null,
          expiresIn ? Date.now() + expiresIn * 1000 : null,
        ],
      )
    },
    async find(id) {
      return parse((await sql.query(`${select} WHERE id = $1 AND type = $2`, [id, type]))[0])
    },
    async findByUid(uid) {
      return parse((await sql.query(`${select} WHERE uid = $1 AND type = $2`, [uid, type]))[0])
    },
    async consume(id) {
      const now = Math.floor(Date.now() / 1000)
      await sql.query('UPDATE payloads SET consumed_at = $3 WHERE id = $1 AND type = $2', [
        id,
        type,
        now,
      ])
    },
    async destroy(id) {
      await sql.query('DELETE FROM payloads WHERE id = $1 AND type = $2', [id, type])
    },
    async revokeByGrantId(grantId) {
      await sql.query('DELETE FROM payloads WHERE grant_id = $1', [grantId])
    },
  })
}

function createMemoryAdapter() {
  const payloads = new Map()
  const uids = new Map()
  return (type) => ({
    async upsert(id, payload) {
      payloads.set(`${type} ${id}`, payload)
      if (payload.uid) uids.set(`${type} ${payload.uid}`, id)
    },
    find: async (id) => payloads.get(`${type} ${id}`),
    findByUid: async (uid) => payloads.get(`${type} ${uids.get(`${type} ${uid}`)}`),
    async consume(id) {
      payloads.get(`${type} ${id}`).consumed = Math.floor(Date.now() / 1000)
    },
    destroy: async (id) => void payloads.delete(`${type} ${id}`),
    async revokeByGrantId(grantId) {
      for (const [key, payload] of payloads) if (payload.grantId === grantId) payloads.delete(key)
    },
  })
}
