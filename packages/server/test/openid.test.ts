import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'
const CALLBACK = 'http://127.0.0.1:9/callback'

let service: TestService
let provider: client.Configuration
beforeAll(async () => {
  service = await startTestService({
    options: { clock: { now: () => new Date() } },
    settings: {
      claims: ({ email }) => ({
        email_verified: email === EMAIL,
        locale: 'en-GB',
        gender: 'female',
      }),
    },
  })
  await service.users.create({ email: EMAIL, password: PASSWORD, name: 'Ada Lovelace' })
  const { client: made, secret } = await service.oauth.clients.create({
    name: 'Bookshop',
    redirect: [CALLBACK, 'https://bookshop.example/callback'],
  })
  provider = await client.discovery(
    new URL(service.url),
    made.id,
    undefined,
    client.ClientSecretBasic(secret ?? ''),
    { execute: [client.allowInsecureRequests] },
  )
})
afterAll(() => service.stop())

type Browser = ReturnType<TestService['browser']>

/** Returns the address that the browser is sent to after pressing Approve. */
async function approve(browser: Browser, address: URL): Promise<URL> {
  const page = await browser.get(`${address.pathname}${address.search}`)
  const html = await page.text()
  const action = /action="(\/oauth\/authorize[^"]+)"/.exec(html)?.[1] ?? ''
  const csrf = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const back = await browser.post(action, { csrf_token: csrf, decision: 'approve' })
  return new URL(back.headers.get('location') ?? `error:${back.status}`)
}

describe('OpenID Connect at the service', () => {
  it("lets another application discover the endpoints from the issuer and read the person's claims", async () => {
    const browser = service.browser()
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const [expectedNonce, expectedState] = [client.randomNonce(), client.randomState()]
    const address = client.buildAuthorizationUrl(provider, {
      redirect_uri: CALLBACK,
      scope: 'openid profile email',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      nonce: expectedNonce,
      state: expectedState,
      login_hint: EMAIL,
      max_age: '3600',
    })
    const asked = await browser.get(`${address.pathname}${address.search}`)
    const login = new URL(asked.headers.get('location') ?? '', service.url)
    expect(await (await browser.get(`${login.pathname}${login.search}`)).text()).toContain(
      `value="${EMAIL}"`,
    )
    await browser.signIn(EMAIL, PASSWORD)
    const back = await approve(browser, address)
    const checks = { pkceCodeVerifier, expectedNonce, expectedState, maxAge: 3600 }
    const tokens = await client.authorizationCodeGrant(provider, back, checks)
    const claims = tokens.claims()
    expect(claims).toMatchObject({ acr: 'password', amr: ['pwd'], nonce: expectedNonce })
    const sub = claims?.sub ?? ''
    expect(await client.fetchUserInfo(provider, tokens.access_token, sub)).toEqual({
      sub,
      name: 'Ada Lovelace',
      email: EMAIL,
      email_verified: true,
      locale: 'en-GB',
      gender: 'female',
    })
    const refreshed = await client.refreshTokenGrant(provider, tokens.refresh_token ?? '')
    expect(refreshed.claims()).toMatchObject({ sub, auth_time: claims?.auth_time })
  })

  it("sends a content security policy that lets the browser continue from the sign-in to the client's redirect URI", async () => {
    const { client_id } = provider.clientMetadata()
    const returnTo = `/oauth/authorize?client_id=${client_id}&request_uri=x`
    const browser = service.browser()
    const page = await browser.get(`/login?return_to=${encodeURIComponent(returnTo)}`)
    const policy = page.headers.get('content-security-policy')
    expect(policy).toContain('http://127.0.0.1:9')
    expect(policy).toContain('https://bookshop.example')
  })
})

describe('settings of OpenID Connect', () => {
  it('disable OpenID Connect, choose the algorithm of ID tokens, and add other APIs', async () => {
    const resource = 'https://api.example.com/mcp'
    const other = await startTestService({
      settings: { openid: false, signingAlgorithm: 'EdDSA', resources: { [resource]: {} } },
    })
    try {
      const statusOf = async (path: string) => (await fetch(`${other.url}${path}`)).status
      expect(await statusOf('/.well-known/openid-configuration')).toBe(404)
      expect(await statusOf('/oauth/userinfo')).toBe(404)
      const { keys } = await (await fetch(`${other.url}/.well-known/jwks.json`)).json()
      expect(keys.map(({ alg }: { alg: string }) => alg)).toEqual(['EdDSA'])
      const metadata = await fetch(`${other.url}/.well-known/oauth-protected-resource/mcp`)
      expect(await metadata.json()).toMatchObject({ resource })
    } finally {
      await other.stop()
    }
  })
})
