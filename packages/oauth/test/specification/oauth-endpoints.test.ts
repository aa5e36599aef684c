import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createClient,
  runCodeFlow,
  startServer,
  type TestServer,
  type TokenReply,
} from '../support.ts'
import { bearer, guardedApp } from './guarded-app.ts'
import { expectNoChange } from './rows.ts'

let server: TestServer
let client: { id: string; secret: string }
let tokens: TokenReply
beforeAll(async () => {
  server = await startServer()
})
beforeEach(async () => {
  client = await createClient(server)
  tokens = await runCodeFlow(server, client)
})
afterAll(() => server.close())

type Credentials = { readonly id: string; readonly secret: string }
const post = (path: string, by: Credentials, form: Record<string, string>) =>
  server.post(path, {
    client_id: by.id,
    ...(by.secret ? { client_secret: by.secret } : {}),
    ...form,
  })

const introspect = async (token: string, by: Credentials = client) =>
  (await post('/oauth/introspect', by, { token })).json()
const isAccepted = async () =>
  (await guardedApp(server).get('/me', bearer(tokens.access_token))).status === 200

describe('POST /oauth/revoke', () => {
  it.each(['access_token', 'refresh_token'] as const)(
    'revokes both tokens of a grant if the %s is sent (RFC 7009)',
    async (kind) => {
      const reply = await post('/oauth/revoke', client, { token: tokens[kind] })
      expect(reply.status).toBe(200)
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(await isAccepted()).toBe(false)
      const { refresh_token } = tokens
      const refreshed = await post('/oauth/token', client, {
        grant_type: 'refresh_token',
        refresh_token,
      })
      expect(await refreshed.json()).toMatchObject({ error: 'invalid_grant' })
      const again = await post('/oauth/revoke', client, { token: tokens[kind] })
      expect(again.status).toBe(200)
    },
  )

  it('returns 200 and changes nothing for an unknown token and for a token of another client (RFC 7009)', async () => {
    const other = await createClient(server)
    for (const token of [tokens.access_token, tokens.refresh_token, 'nonsense']) {
      const reply = await expectNoChange(server, () => post('/oauth/revoke', other, { token }))
      expect(reply.status).toBe(200)
    }
    expect(await isAccepted()).toBe(true)
  })

  it('requires client authentication and a token (RFC 7009)', async () => {
    const token = tokens.access_token
    const unknown = await post('/oauth/revoke', { ...client, secret: 'x' }, { token })
    expect(unknown.status).toBe(401)
    expect(await unknown.json()).toMatchObject({ error: 'invalid_client' })
    const missing = await post('/oauth/revoke', client, {})
    expect(await missing.json()).toMatchObject({ error: 'invalid_request' })
  })
})

describe('POST /oauth/introspect', () => {
  it('describes a valid access token (RFC 7662)', async () => {
    const reply = await post('/oauth/introspect', client, { token: tokens.access_token })
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const now = Math.floor(server.clock.now().getTime() / 1000)
    expect(await reply.json()).toEqual({
      active: true,
      token_type: 'Bearer',
      iss: server.url,
      aud: server.url,
      sub: 'user:ada',
      client_id: client.id,
      jti: expect.any(String),
      scope: 'place-orders',
      iat: now,
      exp: now + 365 * 24 * 3600,
    })
  })

  it('describes a valid refresh token (RFC 7662)', async () => {
    expect(await introspect(tokens.refresh_token)).toMatchObject({
      active: true,
      token_type: 'refresh_token',
      client_id: client.id,
      sub: 'user:ada',
    })
  })

  it('returns only active: false for a token that is not valid (RFC 7662)', async () => {
    await post('/oauth/revoke', client, { token: tokens.access_token })
    for (const token of [tokens.access_token, tokens.refresh_token, 'nonsense']) {
      expect(await introspect(token)).toEqual({ active: false })
    }
  })

  it('returns active: false for tokens of other clients, except to a resource server (threat T14)', async () => {
    const other = await createClient(server)
    const api = await createClient(server, { grants: ['client_credentials'], resourceServer: true })
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expect(await introspect(token, other)).toEqual({ active: false })
      expect(await introspect(token, api)).toMatchObject({ active: true })
    }
  })

  it('refuses public clients (threat T14)', async () => {
    const spa = await createClient(server, { confidential: false })
    const reply = await post('/oauth/introspect', spa, { token: tokens.access_token })
    expect(reply.status).toBe(401)
    expect(await reply.json()).toMatchObject({ error: 'invalid_client' })
  })
})

describe('discovery', () => {
  it('GET /.well-known/oauth-authorization-server describes the configuration of the server (RFC 8414)', async () => {
    const reply = await server.request('/.well-known/oauth-authorization-server')
    expect(reply.status).toBe(200)
    expect(reply.headers.get('access-control-allow-origin')).toBe('*')
    expect(await reply.json()).toMatchObject({
      issuer: server.url,
      authorization_endpoint: `${server.url}/oauth/authorize`,
      token_endpoint: `${server.url}/oauth/token`,
      revocation_endpoint: `${server.url}/oauth/revoke`,
      introspection_endpoint: `${server.url}/oauth/introspect`,
      jwks_uri: `${server.url}/.well-known/jwks.json`,
      scopes_supported: ['place-orders', 'check-status'],
      response_types_supported: ['code', 'token'],
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'password',
        'implicit',
        'client_credentials',
      ],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    })
  })

  it.each([
    ['1h', 300],
    ['5m', 150],
    ['30s', 15],
    [1, 0],
  ])(
    'GET /.well-known/jwks.json may be cached for at most half of the `keyPublishedAhead` option: %s',
    async (keyPublishedAhead, seconds) => {
      const rotating = await startServer({ keyPublishedAhead })
      const reply = await rotating.request('/.well-known/jwks.json')
      expect(reply.headers.get('cache-control')).toBe(`public, max-age=${seconds}`)
      await rotating.close()
    },
  )

  it('GET /.well-known/jwks.json returns only public keys, and includes the next key before it is used for signing', async () => {
    const read = async () => (await server.request('/.well-known/jwks.json')).json()
    const [first] = (await read()).keys
    expect(first).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    expect(first).not.toHaveProperty('d')
    const { kid } = await server.oauth.keys.rotate()
    expect((await read()).keys.map((key: { kid: string }) => key.kid)).toEqual([first.kid, kid])
    const kidOf = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
    expect(kidOf((await runCodeFlow(server, client)).access_token)).toBe(first.kid)
    server.clock.advance({ minutes: 5 })
    expect(kidOf((await runCodeFlow(server, client)).access_token)).toBe(kid)
    expect(await isAccepted()).toBe(true)
  })

  it('the path of the issuer comes after /.well-known/... in the URL (RFC 8414 §3.1)', async () => {
    const below = await startServer({ issuer: 'https://example.com/api' })
    try {
      const path = '/.well-known/oauth-authorization-server/api'
      const { token_endpoint, jwks_uri } = await (await below.request(path)).json()
      expect(token_endpoint).toBe('https://example.com/api/oauth/token')
      expect(jwks_uri).toBe('https://example.com/api/.well-known/jwks.json')
      expect((await below.request('/api/.well-known/jwks.json')).status).toBe(200)
    } finally {
      await below.close()
    }
  })

  it('GET /oauth/pages.css returns the stylesheet of the default pages', async () => {
    const reply = await server.request('/oauth/pages.css')
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('text/css; charset=utf-8')
  })
})

describe('access token formats', () => {
  it.each(['EdDSA', 'ES256', 'RS256'] as const)(
    'tokens signed with %s are accepted by the guard and contain the id of their key',
    async (signingAlgorithm) => {
      const signing = await startServer({ signingAlgorithm })
      try {
        const { access_token } = await runCodeFlow(signing, await createClient(signing))
        const header = JSON.parse(
          Buffer.from(access_token.split('.')[0] ?? '', 'base64url').toString(),
        )
        const { keys } = await (await signing.request('/.well-known/jwks.json')).json()
        expect(keys).toMatchObject([{ kid: header.kid, alg: signingAlgorithm }])
        expect(header.alg).toBe(signingAlgorithm)
        expect((await guardedApp(signing).get('/me', bearer(access_token))).status).toBe(200)
      } finally {
        await signing.close()
      }
    },
  )

  it('opaque tokens contain no claims, are accepted by the guard and can be introspected', async () => {
    const opaque = await startServer({ accessTokenFormat: 'opaque' })
    try {
      const own = await createClient(opaque)
      const { access_token } = await runCodeFlow(opaque, own)
      expect(access_token).toMatch(/^tga_[\w.-]+$/)
      for (const part of access_token.slice(4).split('.')) {
        const text = Buffer.from(part, 'base64url').toString('latin1')
        for (const word of ['ada', own.id, 'place-orders']) expect(text + part).not.toContain(word)
      }
      const app = guardedApp(opaque)
      expect((await app.get('/me', bearer(access_token))).status).toBe(200)
      expect((await app.get('/me', bearer(`${access_token}A`))).status).toBe(401)
      const reply = await opaque.post('/oauth/introspect', {
        client_id: own.id,
        client_secret: own.secret,
        token: access_token,
      })
      expect(await reply.json()).toMatchObject({ active: true, sub: 'user:ada' })
    } finally {
      await opaque.close()
    }
  })
})
