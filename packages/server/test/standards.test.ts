import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCertificate } from '../../../test-support/self-signed.ts'
import { type OutgoingSettings, readByAll } from '../src/index.ts'
import { startTestService, type TestService, type TestServiceOptions } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'
const CALLBACK = 'http://127.0.0.1:9/callback'
const now = { options: { clock: { now: () => new Date() } } } as const
const insecure = { execute: [client.allowInsecureRequests] }

async function metadataOf({ url }: TestService): Promise<Record<string, unknown>> {
  return (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()
}

async function withService(
  overrides: TestServiceOptions,
  work: (service: TestService) => Promise<void>,
): Promise<void> {
  const service = await startTestService(overrides)
  try {
    await work(service)
  } finally {
    await service.stop()
  }
}

/** The person signs in and approves. Returns the address that the browser is sent to. */
async function approve(service: TestService, address: URL): Promise<URL> {
  const browser = service.browser()
  await browser.signIn(EMAIL, PASSWORD)
  const html = await (await browser.get(`${address.pathname}${address.search}`)).text()
  const action = /action="(\/oauth\/authorize[^"]+)"/.exec(html)?.[1] ?? ''
  const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const back = await browser.post(action, { csrf_token, decision: 'approve' })
  return new URL(back.headers.get('location') ?? `error:${back.status}`)
}

describe('a demo with default settings', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService(now)
    await service.users.create({ email: EMAIL, password: PASSWORD })
  })
  afterAll(() => service.stop())

  it('lets a client that knows only the issuer sign a person in, with a pushed request and DPoP', async () => {
    const provider = await client.dynamicClientRegistration(
      new URL(service.url),
      { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
      client.None(),
      insecure,
    )
    const DPoP = client.getDPoPHandle(provider, await client.randomDPoPKeyPair())
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const address = await client.buildAuthorizationUrlWithPAR(
      provider,
      {
        redirect_uri: CALLBACK,
        scope: 'openid profile email place-orders',
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      },
      { DPoP },
    )
    const back = await approve(service, address)
    const checks = { pkceCodeVerifier }
    const tokens = await client.authorizationCodeGrant(provider, back, checks, {}, { DPoP })
    expect(tokens.token_type).toBe('dpop')
    const api = new URL(`${service.url}/api/user`)
    const ask = (options: client.DPoPOptions) =>
      client.fetchProtectedResource(
        provider,
        tokens.access_token,
        api,
        'GET',
        null,
        undefined,
        options,
      )
    expect((await ask({ DPoP })).status).toBe(200)
    const stolen = await fetch(api, { headers: { authorization: `Bearer ${tokens.access_token}` } })
    expect(stolen.status).toBe(401)
  })

  it('gives a self-registered client access only to the data that people approved', async () => {
    const provider = await client.dynamicClientRegistration(
      new URL(service.url),
      { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
      client.None(),
      insecure,
    )
    const tokenFor = async (scope: string) => {
      const pkceCodeVerifier = client.randomPKCECodeVerifier()
      const code_challenge = await client.calculatePKCECodeChallenge(pkceCodeVerifier)
      const asked = { redirect_uri: CALLBACK, code_challenge, code_challenge_method: 'S256' }
      const address = client.buildAuthorizationUrl(provider, { ...asked, scope })
      const back = await approve(service, address)
      return client.authorizationCodeGrant(provider, back, { pkceCodeVerifier })
    }
    const get = async (path: string, token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const reply = await fetch(`${service.url}${path}`, { headers })
      return { status: reply.status, text: await reply.text(), reply }
    }
    const { access_token } = await tokenFor('check-status')
    expect((await get('/api/orders/status', access_token)).status).toBe(200)
    const user = await get('/api/user', access_token)
    expect([user.status, user.text.includes(EMAIL)]).toEqual([403, false])
    expect(user.reply.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
    expect((await get('/api/subscription', access_token)).status).toBe(403)
    const { access_token: more } = await tokenFor('openid profile email')
    expect(await get('/api/user', more)).toMatchObject({
      status: 200,
      text: expect.stringContaining(EMAIL),
    })
    expect((await get('/api/subscription', more)).status).toBe(403)
  })

  it('accepts a client that authenticates with its key', async () => {
    const { publicKey, privateKey } = await crypto.subtle.generateKey(
      { name: 'ECDSA', namedCurve: 'P-256' },
      true,
      ['sign', 'verify'],
    )
    const key = { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid: 'k' }
    const { client: made } = await service.oauth.clients.create({
      name: 'Backend',
      grants: ['client_credentials'],
      settings: { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key] } },
    })
    const provider = await client.discovery(
      new URL(service.url),
      made.id,
      undefined,
      client.PrivateKeyJwt({ key: privateKey, kid: 'k' }),
      insecure,
    )
    expect((await client.clientCredentialsGrant(provider)).access_token).toBeTruthy()
  })

  it('lists its features in the metadata, and none that are off', async () => {
    const metadata = await metadataOf(service)
    expect(metadata).toMatchObject({
      registration_endpoint: `${service.url}/oauth/register`,
      client_id_metadata_document_supported: true,
      pushed_authorization_request_endpoint: `${service.url}/oauth/par`,
      require_pushed_authorization_requests: false,
      request_parameter_supported: true,
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
    })
    expect(metadata.token_endpoint_auth_methods_supported).not.toContain('client_secret_jwt')
    expect(metadata).not.toHaveProperty('introspection_signing_alg_values_supported')
  })
})

describe('settings of OAuth standards', () => {
  it('switch all of the standards off', async () => {
    const settings = {
      selfRegistered: {},
      clientLogos: false,
      clientAssertions: false,
      pushedRequests: false,
      requestObjects: false,
      dpop: false,
    }
    await withService({ settings }, async (service) => {
      const metadata = await metadataOf(service)
      const names = Object.keys(metadata).join(' ')
      expect(names).not.toMatch(/registration|metadata_document|push|request_object|dpop/)
      expect(metadata.token_endpoint_auth_methods_supported).not.toContain('private_key_jwt')
      for (const path of ['register', 'par']) {
        const reply = await fetch(`${service.url}/oauth/${path}`, { method: 'POST' })
        expect(reply.status).toBe(404)
      }
    })
  })

  it('make the standards mandatory', async () => {
    const settings = {
      pushedRequests: 'required',
      requestObjects: 'required',
      dpop: 'required',
      dpopNonces: true,
      clientAssertions: 'shared-secrets',
      signedIntrospection: true,
      stepUp: true,
      openid: false,
    } as const
    await withService({ settings }, async (service) => {
      const metadata = await metadataOf(service)
      expect(metadata).toMatchObject({
        require_pushed_authorization_requests: true,
        require_signed_request_object: true,
        token_endpoint_auth_methods_supported: expect.arrayContaining(['client_secret_jwt']),
        introspection_signing_alg_values_supported: expect.arrayContaining(['RS256']),
        acr_values_supported: ['password', 'mfa'],
      })
      const { id = '', secret } = service.demo?.clients.service ?? {}
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: secret ?? '',
      })
      const reply = await fetch(`${service.url}/oauth/token`, { method: 'POST', body })
      expect(await reply.json()).toMatchObject({ error: 'invalid_request' })
    })
  })

  it.each([
    ['everywhere', 1],
    ['process', 0],
  ] as const)(
    'include dpopGuardReplays, which decides whether /api stores DPoP proofs: %s',
    async (dpopGuardReplays, rows) => {
      await withService({ settings: { dpopGuardReplays }, ...now }, async (service) => {
        await service.users.create({ email: EMAIL, password: PASSWORD })
        const made = await service.oauth.clients.create({ name: 'Till', grants: ['password'] })
        const provider = await client.discovery(
          new URL(service.url),
          made.client.id,
          made.secret ?? '',
          undefined,
          insecure,
        )
        const DPoP = client.getDPoPHandle(provider, await client.randomDPoPKeyPair())
        const person = { username: EMAIL, password: PASSWORD }
        const tokens = await client.genericGrantRequest(provider, 'password', person, { DPoP })
        const count = async () =>
          (await service.database.kysely.selectFrom('oauth_tickets').selectAll().execute()).length
        const before = await count()
        const api = new URL(`${service.url}/api/user`)
        const reply = await client.fetchProtectedResource(
          provider,
          tokens.access_token,
          api,
          'GET',
          null,
          undefined,
          { DPoP },
        )
        expect([reply.status, (await count()) - before]).toEqual([200, rows])
      })
    },
  )

  it('include MCP servers, whose clients register themselves and get tokens only for these servers', async () => {
    const resource = 'https://api.example.com/mcp'
    const settings = { mcpServers: { [resource]: { scopes: ['place-orders'] } } }
    await withService({ settings, ...now }, async (service) => {
      await service.users.create({ email: EMAIL, password: PASSWORD })
      const provider = await client.dynamicClientRegistration(
        new URL(service.url),
        { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
        client.None(),
        insecure,
      )
      const pkceCodeVerifier = client.randomPKCECodeVerifier()
      const address = client.buildAuthorizationUrl(provider, {
        redirect_uri: CALLBACK,
        scope: 'place-orders',
        resource,
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      })
      const back = await approve(service, address)
      const { access_token } = await client.authorizationCodeGrant(
        provider,
        back,
        { pkceCodeVerifier },
        { resource },
      )
      const [, claims = ''] = access_token.split('.')
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
        aud: resource,
        scope: 'place-orders',
      })
      const headers = { authorization: `Bearer ${access_token}` }
      expect((await fetch(`${service.url}/api/user`, { headers })).status).toBe(401)
    })
  })

  it('choose the type of access tokens', async () => {
    await withService({ settings: { ...readByAll } }, async (service) => {
      const { id = '', secret } = service.demo?.clients.service ?? {}
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: secret ?? '',
      })
      const reply = await fetch(`${service.url}/oauth/token`, { method: 'POST', body })
      const { access_token } = (await reply.json()) as { access_token: string }
      const header = Buffer.from(access_token.split('.')[0] ?? '', 'base64url').toString()
      expect(JSON.parse(header)).toMatchObject({ alg: 'RS256', typ: 'JWT' })
    })
  })

  it('allow outgoing requests to a private address only if they list it', async () => {
    const { cert, key } = createCertificate(['localhost'], ['127.0.0.1'])
    let asked = 0
    const web = createServer({ cert, key }, (request, response) => {
      asked += 1
      const client_id = `https://${request.headers.host}/client.json`
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ client_id, redirect_uris: [`https://${request.headers.host}/`] }),
      )
    })
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    const client_id = `https://127.0.0.1:${(web.address() as AddressInfo).port}/client.json`
    const challenge = { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' }
    const query = new URLSearchParams({ client_id, response_type: 'code', ...challenge })
    const selfRegistered = { documents: true, scopes: ['place-orders'] }
    const askWith = (outgoing: OutgoingSettings) =>
      withService({ settings: { selfRegistered, outgoing } }, async ({ url }) => {
        const reply = await fetch(`${url}/oauth/authorize?${query}`, { redirect: 'manual' })
        statuses.push(reply.status)
      })
    const statuses: number[] = []
    await askWith({ privateAddresses: [], certificates: [cert] })
    expect([statuses, asked]).toEqual([[400], 0])
    await askWith({ privateAddresses: ['127.0.0.1'], certificates: [cert] })
    expect([statuses, asked]).toEqual([[400, 303], 1])
    await new Promise((resolve) => web.close(resolve))
  })
})
