// A server with a user who is always signed in and clients that are approved at once, for programs
// in other languages.
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import {
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  jwtClientAuthentication,
  memoryStorage,
  openid,
  readByAll,
  refreshToken,
} from '@tollgate/oauth'
import { nodeListener } from '@tollgate/oauth/node'

const DAYS = 24 * 60 * 60 * 1000

/** The resources, by the names in the reference. */
export const RESOURCES = {
  default: 'https://api.example.com/default',
  readByAll: 'https://api.example.com/read-by-all',
}
const ELSEWHERE = 'https://elsewhere.example.com'

export async function startServer() {
  const http = createServer()
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${http.address().port}`
  const options = {
    issuer,
    secret: 'a secret for other languages, of no worth',
    storage: memoryStorage(),
    users: {
      findById: (id) => ({ id }),
      fromRequest: () => ({ id: 'ada', sessionId: 'one' }),
      claims: () => ({ name: 'Ada Lovelace', email: 'ada@example.com', email_verified: true }),
    },
    scopes: { 'orders:read': 'See your orders' },
    grants: [authorizationCode(), refreshToken(), clientCredentials()],
    features: [openid(), jwtClientAuthentication()],
    accessTokensExpireIn: '1h',
    resources: {
      [RESOURCES.default]: {},
      [RESOURCES.readByAll]: readByAll,
      // Differs in the audience only.
      [`${ELSEWHERE}/default`]: {},
      [`${ELSEWHERE}/readByAll`]: readByAll,
    },
  }
  // The first server ran days ago: it has the same keys, and its tokens have expired.
  const before = createAuthorizationServer({
    ...options,
    clock: { now: () => new Date(Date.now() - 3 * DAYS) },
  })
  await before.ready()
  const oauth = createAuthorizationServer(options)
  await oauth.ready()
  http.on('request', nodeListener(oauth))
  const newClient = async (redirect, settings) => {
    const { client, secret } = await oauth.clients.create({
      name: 'Foreign',
      redirect,
      ...(settings && { settings }),
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
      firstParty: true,
    })
    return { client_id: client.id, client_secret: secret, redirect_uri: redirect }
  }
  const client = await newClient('https://app.example.com/callback')
  const inIdToken = { claims_in_id_token: true }
  return {
    issuer,
    client,
    /** For libraries that never request UserInfo. */
    clients: {
      authJs: await newClient('https://shop.example/auth/callback/tollgate', inIdToken),
      passport: await newClient('http://127.0.0.1/callback', inIdToken),
      key: await newClientWithKey(newClient),
    },
    newClient,
    tokens: {
      default: await tokensFor('default', client, { before, oauth, issuer }),
      readByAll: await tokensFor('readByAll', client, { before, oauth, issuer }),
    },
    close() {
      before.close()
      oauth.close()
      http.closeAllConnections()
      http.close()
    },
  }
}

/** Creates a client that authenticates with a JWT, and its private key. */
async function newClientWithKey(newClient) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }
  const { client_id } = await newClient('https://app.example.com/callback', {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [jwk] },
  })
  return { client_id, private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }) }
}

/** Creates one token that must be accepted, and those that must be rejected. */
async function tokensFor(name, client, { before, oauth, issuer }) {
  const audience = RESOURCES[name]
  const get = (server, resource) => signIn(server, client, { issuer, resource })
  const good = await get(oauth, audience)
  return {
    audience,
    good: good.access_token,
    anotherAudience: (await get(oauth, `${ELSEWHERE}/${name}`)).access_token,
    expired: (await get(before, audience)).access_token,
    idToken: good.id_token,
    tampered: tamper(good.access_token),
  }
}

/** Replaces the user in a token without signing it again. */
function tamper(token) {
  const [header, payload, signature] = token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'eve' })).toString('base64url')
  return [header, changed, signature].join('.')
}

async function signIn(server, { client_id, client_secret, redirect_uri }, { issuer, resource }) {
  const query = new URLSearchParams({
    ...{ client_id, redirect_uri, resource },
    response_type: 'code',
    scope: 'openid orders:read',
  })
  const asked = await server.fetch(
    new Request(`${issuer}/oauth/authorize?${query}`, { headers: { accept: 'text/html' } }),
  )
  const code = new URL(asked.headers.get('location') ?? `error:${asked.status}`).searchParams.get(
    'code',
  )
  const reply = await server.fetch(
    new Request(`${issuer}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ client_id, client_secret, redirect_uri, resource, code: code ?? '' },
        grant_type: 'authorization_code',
      }),
    }),
  )
  const tokens = await reply.json()
  if (!reply.ok) throw new Error(`No token for ${resource}: ${JSON.stringify(tokens)}`)
  return tokens
}
