import { exportJWK, generateKeyPair } from 'jose'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeService } from '../src/cli/commands/serve.ts'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'
const CALLBACK = 'http://127.0.0.1:9/callback'

describe('the service with TOLLGATE_FAPI2=on', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      environment: { TOLLGATE_FAPI2: 'on', TOLLGATE_SIGNED_INTROSPECTION: 'on' },
      options: { clock: { now: () => new Date() } },
    })
    await service.users.create({ email: EMAIL, password: PASSWORD })
  })
  afterAll(() => service.stop())

  it('announces the FAPI 2 profile in its metadata, and nothing that the profile forbids', async () => {
    const reply = await fetch(`${service.url}/.well-known/openid-configuration`)
    const metadata = await reply.json()
    expect(metadata).toMatchObject({
      require_pushed_authorization_requests: true,
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      response_types_supported: ['code'],
    })
    expect(metadata.grant_types_supported).not.toContain('password')
    expect(metadata.grant_types_supported).not.toContain('implicit')
    expect(JSON.stringify(metadata)).not.toContain('RS256')
  })

  it('lets openid-client sign in with a key, call /api, and refresh twice with the same refresh token', async () => {
    const keys = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'key' }
    const made = await service.oauth.clients.create({
      name: 'Bank',
      redirect: CALLBACK,
      settings: { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } },
    })
    const provider = await client.discovery(
      new URL(service.url),
      made.client.id,
      undefined,
      client.PrivateKeyJwt({ key: keys.privateKey, kid: 'key' }),
      { execute: [client.allowInsecureRequests] },
    )
    const DPoP = client.getDPoPHandle(provider, await client.randomDPoPKeyPair())
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const address = await client.buildAuthorizationUrlWithPAR(
      provider,
      {
        redirect_uri: CALLBACK,
        scope: 'openid place-orders',
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      },
      { DPoP },
    )
    const back = await approve(address)
    const checks = { pkceCodeVerifier, idTokenExpected: true }
    const tokens = await client.authorizationCodeGrant(provider, back, checks, undefined, { DPoP })
    const me = new URL('/api/user', service.url)
    const call = async (token: string) => {
      const of = { DPoP }
      return client.fetchProtectedResource(provider, token, me, 'GET', undefined, undefined, of)
    }
    expect((await call(tokens.access_token)).status).toBe(200)
    const bearer = { authorization: `Bearer ${tokens.access_token}` }
    expect((await fetch(me, { headers: bearer })).status).toBe(401)
    const { refresh_token = '' } = tokens
    for (let times = 0; times < 2; times += 1) {
      const next = await client.refreshTokenGrant(provider, refresh_token, undefined, { DPoP })
      expect(next.refresh_token).toBe(refresh_token)
      expect((await call(next.access_token)).status).toBe(200)
    }
  })

  it('has no demo clients, and offers none of the flows of the demo', async () => {
    expect(service.demo?.clients).toEqual({})
    expect(describeService(service)).not.toContain('Client id')
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    expect(await (await browser.get('/')).text()).not.toContain('Try out a third-party application')
  })

  it('creates no client with a secret', async () => {
    const making = service.oauth.clients.create({ name: 'Shop', redirect: CALLBACK })
    await expect(making).rejects.toThrow('token_endpoint_auth_method must be private_key_jwt')
  })

  /** The person signs in and approves. Returns the address that the browser is sent to. */
  async function approve(address: URL): Promise<URL> {
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    const html = await (await browser.get(`${address.pathname}${address.search}`)).text()
    const action = /action="(\/oauth\/authorize[^"]+)"/.exec(html)?.[1] ?? ''
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const back = await browser.post(action, { csrf_token, decision: 'approve' })
    return new URL(back.headers.get('location') ?? `error:${back.status}`)
  }
})
