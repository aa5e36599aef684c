import { generateKeyPairSync } from 'node:crypto'
import { resolveOutgoing } from '@tollgate/http/outgoing'
import { importSPKI, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkSignIn } from '../src/cli/doctor/sign-in.ts'
import { createProvider } from '../src/upstream/providers/kinds.ts'
import { createProviderFetch } from '../src/upstream/providers/requests.ts'
import { newAddress } from './accounts.ts'
import { type StandIn, startStandIn } from './stand-in-provider.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

type Browser = ReturnType<TestService['browser']>

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const OTHER_TENANT = '11111111-2222-3333-4444-555555555555'
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad'

const appleKey = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

let service: TestService
let standIn: StandIn

function createSettings() {
  const client = { clientId: 'tollgate', clientSecret: 'client-secret' }
  const { url } = standIn
  const issuer = `${url}/openid`
  return {
    google: { ...client, url: `${url}/google` },
    github: { ...client, url: `${url}/github` },
    microsoft: { ...client, tenant: 'common', url: `${url}/microsoft` },
    apple: {
      clientId: 'com.example.tollgate',
      teamId: 'TEAM123456',
      keyId: 'KEY1234567',
      url: `${url}/apple`,
    },
    custom: { acme: { ...client, name: 'Acme', issuer, emailsAreVerified: true } },
  }
}

beforeAll(async () => {
  standIn = await startStandIn(() => service.clock.now())
  service = await startTestService({
    environment: {
      TOLLGATE_SIGN_IN_APPLE_SECRET: appleKey.privateKey.replaceAll('\n', '\\n'),
    },
    settings: { signInWith: createSettings() },
  })
})
afterAll(async () => {
  await service.stop()
  await standIn.close()
})

async function press(browser: Browser, provider: string) {
  const reply = await browser.post(`/login/with/${provider}`, { return_to: '/tokens' })
  return reply.headers.get('location') ?? ''
}

/** Signs in as this person. Returns the status, and the identity that was linked. */
async function signInWith(provider: string, claims: Readonly<Record<string, unknown>>) {
  const browser = service.browser()
  const response = standIn.approve(await press(browser, provider), claims)
  const reply = await browser.get(`/login/with/${provider}/callback?${response}`)
  const { body } = await browser.api('/api/user')
  const links = body?.id ? await service.users.identities.list(body.id) : []
  return { status: reply.status, subject: links[0]?.subject ?? null, email: body?.email }
}

describe('the buttons of the sign-in page', () => {
  it('show the presets first, then the custom providers', async () => {
    const html = await (await service.browser().get('/login')).text()
    const buttons = [...html.matchAll(/Continue with (\w+)/g)].map(([, name]) => name)
    expect(buttons).toEqual(['Google', 'GitHub', 'Microsoft', 'Apple', 'Acme'])
  })
})

describe('a sign-in with Google', () => {
  it('succeeds for a person with a verified address', async () => {
    const email = newAddress('google')
    const claims = { sub: '1088', email, email_verified: true, name: 'Ada', hd: 'example.com' }
    expect(await signInWith('google', claims)).toEqual({ status: 303, subject: '1088', email })
    expect(standIn.received.at(-1)?.get('client_secret')).toBe('client-secret')
  })
})

describe('a sign-in with GitHub', () => {
  const person = { id: 583231, login: 'octocat', name: 'The Octocat' }

  it('uses the primary, verified address of the owner of the access token', async () => {
    const email = newAddress('octocat')
    standIn.github.user = person
    standIn.github.emails = [
      { email: newAddress('other'), primary: false, verified: true, visibility: null },
      { email, primary: true, verified: true, visibility: 'private' },
    ]
    const location = await press(service.browser(), 'github')
    expect(location).toContain(`${standIn.url}/github/login/oauth/authorize?`)
    expect(new URL(location).searchParams.get('scope')).toBe('read:user user:email')
    expect(await signInWith('github', {})).toEqual({ status: 303, subject: '583231', email })
  })

  it.each([
    ['the primary address is not verified', person, { primary: true, verified: false }, 403],
    ['only another address is verified', person, { primary: false, verified: true }, 403],
    ['the account has no id', { login: 'x' }, { primary: true, verified: true }, 400],
    ['the id is a text', { id: '583231', login: 'x' }, { primary: true, verified: true }, 400],
  ])('is refused if %s (threat U4)', async (_, user, flags, status) => {
    standIn.github.user = { ...user, ...('name' in user && { id: 583232 }) }
    standIn.github.emails = [{ email: newAddress('octocat'), ...flags }]
    expect(await signInWith('github', {})).toMatchObject({ status, subject: null })
  })

  it('distinguishes a wrong code from an outage, although GitHub responds to both with status 200', async () => {
    const browser = service.browser()
    const response = standIn.approve(await press(browser, 'github'), {})
    response.set('code', 'wrong')
    expect((await browser.get(`/login/with/github/callback?${response}`)).status).toBe(400)
    expect(service.log()).toContain('bad_verification_code')
  })
})

describe('a sign-in with Microsoft', () => {
  const person = (change: Readonly<Record<string, unknown>>) => ({
    sub: 'AAAA',
    tid: TENANT,
    email: newAddress('entra'),
    ...change,
  })

  it('succeeds for people of any tenant, who are identified by tenant and subject, if their address belongs to the tenant', async () => {
    for (const tid of [TENANT, OTHER_TENANT]) {
      const found = await signInWith('microsoft', person({ tid, xms_edov: true }))
      expect(found).toMatchObject({ status: 303, subject: `${tid}:AAAA` })
    }
  })

  it.each([
    ['an address that an administrator may have made up', {}, 403],
    ['an address that only claims to be verified', { email_verified: true }, 403],
    ['a text in place of the tenant', { tid: '../common', xms_edov: true }, 400],
    ['the issuer of another tenant', { iss: 'TENANT', xms_edov: true }, 400],
  ])('is refused with %s (threat U4)', async (_, change, status) => {
    const iss = `${standIn.url}/microsoft/${OTHER_TENANT}/v2.0`
    const claims = person({ sub: 'BBBB', ...change, ...('iss' in change && { iss }) })
    expect(await signInWith('microsoft', claims)).toMatchObject({ status, subject: null })
  })

  it.each([
    [TENANT, TENANT, 303],
    [TENANT, OTHER_TENANT, 400],
    ['organizations', TENANT, 303],
    ['organizations', PERSONAL, 400],
    ['consumers', PERSONAL, 303],
    ['consumers', TENANT, 400],
  ])(
    'is limited to the configured tenants: with %s, a person of %s gets the status %i (threat U1)',
    async (tenant, tid, status) => {
      const { url } = standIn
      const settings = { ...createSettings().microsoft, emailsAreVerified: false, tenant }
      const outgoing = resolveOutgoing('test', { privateAddresses: ['127.0.0.1'] }, 5000)
      const now = () => service.clock.now()
      const provider = createProvider(
        { id: 'microsoft', kind: 'microsoft', secret: 'client-secret', settings },
        { fetch: createProviderFetch(outgoing), now },
      )
      if (tenant === 'consumers')
        standIn.discovery = { issuer: `${url}/microsoft/${PERSONAL}/v2.0` }
      const attempt = { state: 'state', nonce: 'nonce', codeVerifier: 'v'.repeat(43) }
      const more = { redirectUri: 'https://app.example/', isFresh: false, startedAt: now() }
      const { href } = await provider.begin({ ...attempt, ...more })
      const response = standIn.approve(href, person({ tid }))
      const finished = provider.finish(response, { ...attempt, ...more })
      await (status === 303
        ? expect(finished).resolves.toMatchObject({ subject: `${tid}:AAAA` })
        : expect(finished).rejects.toThrow('tenant that is not allowed'))
      standIn.discovery = {}
    },
  )
})

describe('a sign-in with Apple', () => {
  it('uses a signed client secret, and accepts the form that Apple posts from its own site', async () => {
    const browser = service.browser()
    const location = await press(browser, 'apple')
    expect(new URL(location).searchParams.get('response_mode')).toBe('form_post')
    const email = newAddress('relay')
    const response = standIn.approve(location, { sub: '000792.a', email, email_verified: 'true' })
    response.set('user', JSON.stringify({ name: { firstName: 'Ada' } }))
    // A browser sends no Lax cookies with this request.
    const posted = await service.browser().request('/login/with/apple/callback', {
      method: 'POST',
      headers: { origin: standIn.url, 'sec-fetch-site': 'cross-site' },
      body: response,
    })
    expect(posted.status).toBe(303)
    expect(posted.headers.getSetCookie()).toEqual([])
    const next = posted.headers.get('location') ?? ''
    expect(next).toMatch(/^\/login\/with\/apple\/callback\?code=[\w-]+&state=[\w-]+$/)
    expect((await browser.get(next)).status).toBe(303)
    expect((await browser.api('/api/user')).body.email).toBe(email)

    const secret = standIn.received.at(-1)?.get('client_secret') ?? ''
    const key = await importSPKI(appleKey.publicKey, 'ES256')
    const { payload, protectedHeader } = await jwtVerify(secret, key, {
      issuer: 'TEAM123456',
      subject: 'com.example.tollgate',
      audience: `${standIn.url}/apple`,
      currentDate: service.clock.now(),
    })
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY1234567' })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300)
  })

  it.each([
    ['a form with nothing in it', ''],
    ['an error', 'error=user_cancelled_authorize&state=x'],
  ])('shows a page that says what happened after %s', async (_, body) => {
    const browser = service.browser()
    const posted = await browser.post(
      '/login/with/apple/callback',
      Object.fromEntries(new URLSearchParams(body)),
      { origin: standIn.url },
    )
    expect(posted.status).toBe(303)
    expect((await browser.get(posted.headers.get('location') ?? '')).status).toBe(400)
  })
})

describe('a provider with emailsAreVerified', () => {
  it('creates accounts although its tokens do not say that the address is verified', async () => {
    const email = newAddress('staff')
    expect(await signInWith('acme', { sub: 'staff', email })).toMatchObject({ status: 303, email })
  })
})

describe('tollgate doctor', () => {
  it('checks the discovery of each provider, and names its redirect URI', async () => {
    const { config, database, remove } = await testConfig({
      environment: {
        TOLLGATE_URL: 'http://localhost:3000',
        TOLLGATE_SIGN_IN_APPLE_SECRET: appleKey.privateKey,
      },
      settings: {
        signInWith: {
          ...createSettings(),
          custom: {
            away: { name: 'Away', issuer: 'https://127.0.0.1:9', clientId: 'a', clientSecret: 'b' },
            wrong: {
              name: 'Wrong',
              issuer: `${standIn.url}/openid/x`,
              clientId: 'a',
              clientSecret: 'b',
            },
          },
        },
      },
    })
    const findings = await checkSignIn(config, database)
    expect(findings.map(({ level }) => level)).toEqual([
      ...['ok', 'ok', 'ok', 'ok'],
      ...['problem', 'problem'],
    ])
    expect(findings[0]?.message).toContain('http://localhost:3000/login/with/google/callback')
    expect(findings[4]?.message).toContain('People cannot sign in with Away: 127.0.0.1:9')
    expect(findings[5]?.message).toContain('names another issuer')
    expect(JSON.stringify(findings)).not.toContain('client-secret')
    await remove()
  })
})
