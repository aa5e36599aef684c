import { hash, randomFillSync, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { audience, client, issuer, paths, users } from '../fixtures.mjs'
import { readBody, readSession, sendJson, sendRedirect, sessionCookies } from '../http.mjs'
import { createKey, signTokens } from '../keys.mjs'
import { openLimitStorage } from './limit-storage.mjs'

/**
 * The limit: `node:http` and `node:crypto` with only the work that the protocol requires, one SQL
 * statement per step, and a client that is already known.
 */
export const name = 'limit'

export const supports = () => true

const accessTtl = 3600
const secretHash = hash('sha256', client.secret, 'buffer')

export async function start(row, { databaseUrl }) {
  const opaque = row.format === 'opaque'
  const key = opaque ? null : createKey(row.format)
  const storage = await openLimitStorage(row, databaseUrl)
  const tokens = row.workload === 'guarded' ? signTokens(key, 256) : []
  const seen = new Map()

  const handlers = {
    [paths.token]: async (request) => {
      const form = new URLSearchParams(await readBody(request))
      if (!isClient(request.headers.authorization)) return [401, { error: 'invalid_client' }]
      return exchange[form.get('grant_type')](form)
    },
    [paths.introspect]: async (request) => {
      const form = new URLSearchParams(await readBody(request))
      if (!isClient(request.headers.authorization)) return [401, { error: 'invalid_client' }]
      const found = await storage.findAccess(sha256Text(form.get('token')))
      if (!found || Number(found.expires_at) < Date.now()) return [200, { active: false }]
      const exp = Math.floor(Number(found.expires_at) / 1000)
      const { client_id, scope } = found
      return [200, { active: true, client_id, scope, token_type: 'Bearer', exp }]
    },
    [paths.resource]: (request) => {
      const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
      const claims = row.seen ? (seen.get(token) ?? remember(token)) : check(token)
      if (!claims || claims.exp * 1000 < Date.now()) return [401, { error: 'invalid_token' }]
      return [200, { ok: true, sub: claims.sub }]
    },
    [paths.authorize]: async (request) => {
      const query = new URLSearchParams(request.url.slice(paths.authorize.length + 1))
      const userId = readSession(request)
      const code = createSecret()
      const stored = await storage.insertCode({
        hash: sha256Text(code),
        clientId: query.get('client_id'),
        userId,
        scope: query.get('scope'),
        redirectUri: query.get('redirect_uri'),
        challenge: query.get('code_challenge'),
        expiresAt: Date.now() + 60_000,
      })
      if (!stored) return [403, { error: 'access_denied' }]
      const answer = new URLSearchParams({ code, state: query.get('state'), iss: issuer })
      return [302, null, `${query.get('redirect_uri')}?${answer}`]
    },
  }

  const exchange = {
    async client_credentials(form) {
      const issued = createTokens({ refresh: false })
      issued.stored.scope = form.get('scope')
      await storage.insertToken(issued.stored)
      return issued.answer(client.id, form.get('scope'))
    },
    async authorization_code(form) {
      const issued = createTokens({ refresh: true })
      const code = {
        hash: sha256Text(form.get('code')),
        redirectUri: form.get('redirect_uri'),
        challenge: sha256(form.get('code_verifier')).toString('base64url'),
      }
      const used = await storage.exchange(code, issued.stored)
      return used ? issued.answer(used.user_id, used.scope) : [400, { error: 'invalid_grant' }]
    },
    async refresh_token(form) {
      const issued = createTokens({ refresh: true })
      const used = await storage.rotate(sha256Text(form.get('refresh_token')), issued.stored)
      return used ? issued.answer(used.user_id, used.scope) : [400, { error: 'invalid_grant' }]
    },
  }

  function createTokens({ refresh }) {
    const id = randomUUID()
    const access = opaque ? createSecret() : null
    const refreshToken = refresh ? createSecret() : undefined
    const now = Math.floor(Date.now() / 1000)
    return {
      stored: {
        id,
        accessHash: access && sha256Text(access),
        refreshHash: refreshToken ? sha256Text(refreshToken) : null,
        clientId: client.id,
        userId: null,
        scope: null,
        exp: (now + accessTtl) * 1000,
      },
      answer: (sub, granted) => [
        200,
        {
          access_token:
            access ??
            key.signJwt({
              iss: issuer,
              sub,
              aud: audience,
              client_id: client.id,
              jti: id,
              iat: now,
              exp: now + accessTtl,
              scope: granted,
            }),
          token_type: 'Bearer',
          expires_in: accessTtl,
          refresh_token: refreshToken,
          scope: granted,
        },
      ],
    }
  }

  function check(token) {
    const claims = key.verifyJwt(token)
    return claims?.iss === issuer && claims.aud === audience ? claims : null
  }

  function remember(token) {
    const claims = check(token)
    if (claims) seen.set(token, claims)
    return claims
  }

  const server = createServer(async (request, response) => {
    const path = request.url.split('?', 1)[0]
    const [status, body, location] = await handlers[path](request)
    if (location) sendRedirect(response, location)
    else sendJson(response, status, body)
  })
  return { server, seed: { tokens, cookies: sessionCookies(users) } }
}

function isClient(header) {
  if (!header?.startsWith('Basic ')) return false
  const [id, secret] = Buffer.from(header.slice(6), 'base64').toString().split(':')
  return id === client.id && timingSafeEqual(sha256(secret), secretHash)
}

const sha256 = (text) => hash('sha256', text, 'buffer')
const sha256Text = (text) => hash('sha256', text, 'base64url')

const pool = Buffer.alloc(8192)
let used = pool.length

/**
 * Returns 256 random bits. Requesting a few thousand bytes from the system at a time costs far
 * less.
 */
function createSecret() {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 32
  return pool.toString('base64url', used - 32, used)
}
