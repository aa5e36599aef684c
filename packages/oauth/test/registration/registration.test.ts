import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REDIRECT, requestAuthorization, runCodeFlow, type TestServer } from '../support.ts'
import {
  METADATA,
  type Registered,
  registerAndReadError,
  registerAt,
  startOpen,
  toFlowClient,
} from './open-registration.ts'
import { postJson } from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startOpen()
})
afterAll(() => server.close())

describe('POST /oauth/register (threat T13)', () => {
  it('returns a client with a secret and the registered metadata', async () => {
    const reply = await postJson(server, '/oauth/register', {
      ...METADATA,
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'place-orders check-status',
      contacts: ['ops@app.example'],
      client_uri: 'https://app.example',
      unknown_member: 'is left out',
    })
    expect(reply.status).toBe(201)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const registered = (await reply.json()) as Registered
    expect(registered).toEqual({
      client_id: expect.stringMatching(/^[\w-]{36}$/),
      client_id_issued_at: expect.any(Number),
      client_secret: expect.stringMatching(/^tgs_/),
      client_secret_expires_at: 0,
      client_name: 'A stranger',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'place-orders',
      contacts: ['ops@app.example'],
      client_uri: 'https://app.example',
      registration_access_token: expect.stringMatching(/^tgr_/),
      registration_client_uri: `${server.url}/oauth/register/${registered.client_id}`,
    })
  })

  it('registers a client that can get tokens', async () => {
    const client = await registerAt(server)
    const tokens = await runCodeFlow(server, toFlowClient(client))
    expect(tokens.scope).toBe('place-orders')
  })

  it('gives a public client no secret, and requires PKCE from it', async () => {
    const client = await registerAt(server, { token_endpoint_auth_method: 'none' })
    expect(client).not.toHaveProperty('client_secret')
    expect((await runCodeFlow(server, toFlowClient(client))).scope).toBe('place-orders')
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.client_id,
      response_type: 'code',
    })
    expect(new URL(page.headers.get('location') ?? '').searchParams.get('error')).toBe(
      'invalid_request',
    )
  })

  it("stores the authentication method in the client's metadata", async () => {
    const client = await registerAt(server, { token_endpoint_auth_method: 'client_secret_post' })
    const authorization = `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}`
    const reply = await server.post('/oauth/revoke', { token: 'x' }, { authorization })
    expect(reply.status).toBe(401)
  })

  it('uses the host of the redirect URI as the name of a client without a name', async () => {
    const client = await registerAt(server, { client_name: undefined })
    expect(client.client_name).toBe('app.example')
  })

  it('stores neither the registration access token nor the secret in plain text', async () => {
    const client = await registerAt(server)
    const rows = await server.database.kysely.selectFrom('oauth_clients').selectAll().execute()
    const stored = JSON.stringify(rows)
    expect(stored).toContain(client.client_id)
    expect(stored).not.toContain(client.client_secret)
    expect(stored).not.toContain(client.registration_access_token)
  })

  it.each([
    ['no value', undefined],
    ['no list', 'https://app.example/'],
    ['an empty list', []],
    ['a number', [7]],
    ['plain http', ['http://app.example/']],
    ['a custom URL scheme', ['com.example.app:/callback']],
    ['a javascript: URL', ['javascript:alert(1)']],
    ['a data: URL', ['data:text/html,x']],
    ['a fragment', ['https://app.example/#x']],
    ['user info', ['https://user@app.example/']],
    ['this server', ['http://localhost:4999/oauth/authorize']],
    ['a wildcard host', ['https://*.example/']],
    ['one valid and one invalid URI', [REDIRECT, 'http://app.example/']],
    ['too many', Array.from({ length: 51 }, (_, i) => `https://app.example/${i}`)],
  ])(
    'returns invalid_redirect_uri if redirect_uris is invalid: %s',
    async (_what, redirect_uris) => {
      const problem = await registerAndReadError(server, { ...METADATA, redirect_uris })
      expect(problem).toMatchObject({ status: 400, error: 'invalid_redirect_uri' })
    },
  )

  it.each(['http://127.0.0.1/cb', 'http://[::1]:8080/cb', 'http://localhost:3000/cb'])(
    'accepts the loopback redirect URI %s',
    async (uri) => {
      expect((await registerAt(server, { redirect_uris: [uri] })).redirect_uris).toEqual([uri])
    },
  )

  it.each([
    ['the password grant', { grant_types: ['password'] }],
    ['the implicit grant', { grant_types: ['authorization_code', 'implicit'] }],
    ['the client credentials grant', { grant_types: ['authorization_code', 'client_credentials'] }],
    [
      'the token exchange grant',
      { grant_types: ['urn:ietf:params:oauth:grant-type:token-exchange', 'authorization_code'] },
    ],
    ['the personal access grant', { grant_types: ['personal_access', 'authorization_code'] }],
    ['only the refresh token grant', { grant_types: ['refresh_token'] }],
    ['no grant', { grant_types: [] }],
    ['grant_types that are no list', { grant_types: 'authorization_code' }],
    ['an implicit response type', { response_types: ['token'] }],
    ['a hybrid response type', { response_types: ['code id_token'] }],
    ['no response type', { response_types: [] }],
    ['the wildcard scope', { scope: '*' }],
    ['scopes closed to self-registered clients', { scope: 'check-status' }],
    ['a scope that is no string', { scope: ['place-orders'] }],
    ['a name with direction marks', { client_name: 'Bank\u202egro.evil' }],
    ['an empty name', { client_name: ' ' }],
    ['a name that is no string', { client_name: {} }],
    ['a long name', { client_name: 'a'.repeat(300) }],
    [
      'an authentication method that is not enabled',
      { token_endpoint_auth_method: 'private_key_jwt' },
    ],
    ['an unknown authentication method', { token_endpoint_auth_method: 'tls_client_auth' }],
    ['two key sets', { jwks: { keys: [{ kty: 'EC' }] }, jwks_uri: 'https://keys.example/' }],
    ['a private key', { jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'd' }] } }],
    ['a symmetric key', { jwks: { keys: [{ kty: 'oct', k: 'x' }] } }],
    ['a plain http jwks_uri', { jwks_uri: 'http://keys.example/' }],
    ['a plain http logo', { logo_uri: 'http://app.example/logo.png' }],
    ['a javascript: logo', { logo_uri: 'javascript:alert(1)' }],
    ['a plain http policy', { policy_uri: 'http://app.example/' }],
    ['plain http terms', { tos_uri: 'http://app.example/' }],
    ['encrypted ID tokens', { id_token_encrypted_response_alg: 'RSA-OAEP' }],
    ['required DPoP tokens without the feature', { dpop_bound_access_tokens: true }],
    [
      'required pushed requests without the feature',
      { require_pushed_authorization_requests: true },
    ],
    ['required signed requests without the feature', { require_signed_request_object: true }],
    ['far too much metadata', { contacts: Array.from({ length: 11 }, () => 'a@b.example') }],
  ])('returns invalid_client_metadata if the metadata is invalid: %s', async (_what, changes) => {
    const problem = await registerAndReadError(server, { ...METADATA, ...changes })
    expect(problem).toMatchObject({ status: 400, error: 'invalid_client_metadata' })
  })

  it.each([
    ['not JSON', '{', 400],
    ['a list', '[]', 400],
    ['too many bytes', JSON.stringify({ ...METADATA, x: 'a'.repeat(70_000) }), 413],
  ])('rejects an invalid body: %s', async (_what, body, status) => {
    expect((await postJson(server, '/oauth/register', body)).status).toBe(status)
  })

  it('rejects a form body, because a page on another site could send one', async () => {
    const reply = await server.post('/oauth/register', { redirect_uris: REDIRECT })
    expect(reply.status).toBe(415)
  })

  it('ignores metadata that would make the client first-party, verified or a resource server (threat S3)', async () => {
    const client = await registerAt(server, {
      first_party: true,
      firstParty: true,
      resource_server: true,
      self_registered: { by: 'registration', verified: true },
      sealed_secret: 'x',
      user_id: 'ada',
      client_id: 'mine',
      client_secret: 'chosen',
      access_token_signed_response_alg: 'RS256',
    })
    const row = await server.oauth.clients.find(client.client_id)
    expect(row).toMatchObject({ firstParty: false, resourceServer: false, userId: null })
    expect(row?.settings).toEqual({
      self_registered: {
        by: 'registration',
        management_hash: expect.any(String),
        unused_until: expect.any(Number),
      },
    })
    expect(client.client_secret).not.toBe('chosen')
  })
})
