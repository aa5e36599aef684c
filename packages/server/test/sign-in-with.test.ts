import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers, newAddress, PASSWORD } from './accounts.ts'
import { type StandIn, startStandIn } from './stand-in-provider.ts'
import { startTestService, type TestService } from './support.ts'

type Browser = ReturnType<TestService['browser']>

let service: TestService
let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn(() => service.clock.now())
  const openid = { clientId: 'tollgate', clientSecret: 'client-secret' }
  service = await startTestService({
    settings: {
      signInWith: {
        custom: {
          acme: { ...openid, name: 'Acme', issuer: `${standIn.url}/openid` },
          second: { ...openid, name: 'Second', issuer: `${standIn.url}/second` },
        },
      },
    },
  })
})
afterAll(async () => {
  await service.stop()
  await standIn.close()
})

let people = 0
/** A new person at the provider, with a verified address. */
function newClaims(email = newAddress('ada')) {
  people += 1
  return { sub: `person-${people}`, email, email_verified: true, name: 'Ada Lovelace' }
}

/** Presses the button of the provider, and returns the address of the provider's page. */
async function press(browser: Browser, provider = 'acme', form: Record<string, string> = {}) {
  const reply = await browser.post(`/login/with/${provider}`, { return_to: '/tokens', ...form })
  return reply.headers.get('location') ?? `status ${reply.status}`
}

/** Signs in with the provider, and returns the response of the service. */
async function signInWith(
  browser: Browser,
  claims: Readonly<Record<string, unknown>>,
  provider = 'acme',
) {
  const response = standIn.approve(await press(browser, provider), claims)
  return browser.get(`/login/with/${provider}/callback?${response}`)
}

async function createAccount(email = newAddress('ada')) {
  const { id } = await service.users.create({ email, password: PASSWORD })
  const browser = service.browser()
  await browser.signIn(email, PASSWORD)
  return { id, email, browser }
}

const target = (reply: Response) => [reply.status, reply.headers.get('location')]

/** Returns the e-mail address of the signed-in person. `null` without a session. */
async function whoIs(browser: Browser): Promise<string | null> {
  const { status, body } = await browser.api('/api/user')
  return status === 200 ? body.email : null
}

async function link(
  browser: Browser,
  claims: Readonly<Record<string, unknown>>,
  provider = 'acme',
) {
  const token = await browser.csrfToken()
  const reply = await browser.post(`/account/links/with/${provider}`, { csrf_token: token })
  const response = standIn.approve(reply.headers.get('location') ?? '', claims)
  return browser.get(`/login/with/${provider}/callback?${response}`)
}

async function unlink(browser: Browser, userId: string, provider = 'acme') {
  const links = await service.users.identities.list(userId)
  const id = links.find((each) => each.provider === provider)?.id ?? ''
  return browser.post('/account/links/remove', { csrf_token: await browser.csrfToken(), link: id })
}

describe('the sign-in page with other providers', () => {
  it('has a button for each, which leads to the provider with state, nonce and PKCE', async () => {
    const browser = service.browser()
    const html = await (await browser.get('/login?return_to=/tokens')).text()
    expect(html).toContain('Continue with Acme')
    expect(html).toContain('Continue with Second')
    const url = new URL(await press(browser))
    expect(`${url.origin}${url.pathname}`).toBe(`${standIn.url}/openid/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'tollgate',
      redirect_uri: `${service.url}/login/with/acme/callback`,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
  })

  it('allows the form to lead to the providers in its content security policy', async () => {
    const policy = (await service.browser().get('/login')).headers.get('content-security-policy')
    expect(policy).toContain(`form-action 'self' ${standIn.url}`)
  })
})

describe('a sign-in with another provider', () => {
  it('creates an account without a password for a new person, and signs in to it from then on', async () => {
    const claims = newClaims()
    const browser = service.browser()
    expect(target(await signInWith(browser, claims))).toEqual([303, '/tokens'])
    expect(await whoIs(browser)).toBe(claims.email)
    const user = await service.users.findByEmail(claims.email)
    expect(user?.name).toBe('Ada Lovelace')
    expect(await service.users.hasPassword(user?.id ?? '')).toBe(false)
    expect((await browser.signIn(claims.email, '')).status).toBe(401)

    const later = service.browser()
    const moved = { ...claims, email: newAddress('moved'), email_verified: false }
    expect(target(await signInWith(later, moved))).toEqual([303, '/tokens'])
    expect(await whoIs(later)).toBe(claims.email)
  })

  it('records the method and the time of the sign-in at the provider', async () => {
    const browser = service.browser()
    const at = Math.floor(service.clock.now().getTime() / 1000) - 3600
    await signInWith(browser, { ...newClaims(), auth_time: at })
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    expect(await service.sessions.find(cookie)).toMatchObject({
      methods: ['fed'],
      authenticatedAt: new Date(at * 1000),
    })
  })

  it('replaces the session id, so that no session can be planted before (threat U2)', async () => {
    const { browser } = await createAccount()
    const before = browser.cookies.get('tollgate_session')
    await signInWith(browser, newClaims())
    expect(browser.cookies.get('tollgate_session')).not.toBe(before)
    const planted = service.browser()
    planted.cookies.set('tollgate_session', before ?? '')
    expect(await whoIs(planted)).toBeNull()
  })

  it('asks for the password once if the address belongs to an account, then links it (threat U4)', async () => {
    const { id, email } = await createAccount()
    const claims = newClaims(email.toUpperCase())
    const browser = service.browser()
    expect(target(await signInWith(browser, claims))).toEqual([303, '/login?return_to=%2Ftokens'])
    expect(await whoIs(browser)).toBeNull()
    expect(await service.users.identities.list(id)).toEqual([])
    const html = await (await browser.get('/login?return_to=%2Ftokens')).text()
    expect(html).toContain('Your account is then linked with Acme')
    expect(html).toContain(`value="${email.toUpperCase()}"`)
    expect((await browser.signIn(email, 'wrong')).status).toBe(401)
    expect(await service.users.identities.list(id)).toEqual([])

    expect((await browser.signIn(email, PASSWORD)).status).toBe(303)
    expect(await service.users.identities.list(id)).toMatchObject([{ subject: claims.sub }])
    const later = service.browser()
    await signInWith(later, claims)
    expect(await whoIs(later)).toBe(email)
  })

  it('links nothing if the person declines it, or signs in to another account', async () => {
    const { id, email } = await createAccount()
    const other = await createAccount()
    for (const decline of [true, false]) {
      const browser = service.browser()
      await signInWith(browser, newClaims(email))
      if (decline) await browser.post('/login/forget-link', { return_to: '/' })
      await browser.signIn(decline ? email : other.email, PASSWORD)
      expect(await whoIs(browser)).toBe(decline ? email : other.email)
      expect(await service.users.identities.list(id)).toEqual([])
      expect(await service.users.identities.list(other.id)).toEqual([])
    }
  })

  it('links nothing if the address of the account changes before the person signs in to it (threat U4)', async () => {
    const { id, email } = await createAccount()
    const [owner, intruder] = [service.browser(), service.browser()]
    for (const browser of [owner, intruder]) await signInWith(browser, newClaims(email))
    const moved = newAddress('moved')
    await service.database.kysely
      .updateTable('users')
      .set({ email: moved, email_key: moved })
      .where('id', '=', Number(id))
      .execute()
    expect((await owner.signIn(moved, PASSWORD)).status).toBe(303)
    expect(await whoIs(owner)).toBe(moved)
    // Another person has the address now.
    const next = await service.users.create({ email, password: PASSWORD })
    expect((await intruder.signIn(email, PASSWORD)).status).toBe(303)
    expect(await whoIs(intruder)).toBe(email)
    for (const user of [id, next.id]) {
      expect(await service.users.identities.list(user)).toEqual([])
    }
  })

  it.each([
    ['is not verified', { email_verified: false }],
    ['is not said to be verified', { email_verified: undefined }],
    ['is said to be verified by a text', { email_verified: 'true' }],
    ['is missing', { email: undefined }],
    ['is not an address', { email: 'ada' }],
  ])('creates no account and matches none if the address %s (threat U4)', async (_, change) => {
    const { email } = await createAccount()
    for (const address of [email, newAddress('new')]) {
      const browser = service.browser()
      const reply = await signInWith(browser, { ...newClaims(address), ...change })
      expect(reply.status).toBe(403)
      expect(await reply.text()).toContain('Acme has not verified your email address')
      expect(await whoIs(browser)).toBeNull()
    }
  })

  it('refuses a disabled account, and the account of a deleted person', async () => {
    const claims = newClaims()
    await signInWith(service.browser(), claims)
    const { id = '' } = (await service.users.findByEmail(claims.email)) ?? {}
    await service.users.setDisabled(id, true)
    expect((await signInWith(service.browser(), claims)).status).toBe(403)
    await service.users.delete(id)
    expect(await service.users.identities.find('acme', claims.sub)).toBeNull()
  })

  it('says that the person cancelled, and leads back to the page of the application', async () => {
    const browser = service.browser()
    const { searchParams } = new URL(await press(browser))
    const response = new URLSearchParams({
      error: 'access_denied',
      state: searchParams.get('state') ?? '',
    })
    const html = await (await browser.get(`/login/with/acme/callback?${response}`)).text()
    expect(html).toContain('You cancelled the sign-in at Acme')
    expect(html).toContain('href="/login?return_to=%2Ftokens"')
  })

  it('demands a fresh sign-in at the provider where the sign-in page demands one', async () => {
    const { browser, email } = await createAccount()
    const claims = newClaims(email)
    await link(browser, claims)
    const now = Math.floor(service.clock.now().getTime() / 1000)
    const finish = async (authTime: number | undefined) => {
      const location = await press(browser, 'acme', { prompt: 'login' })
      expect(new URL(location).searchParams.get('max_age')).toBe('0')
      const response = standIn.approve(location, { ...claims, auth_time: authTime })
      return (await browser.get(`/login/with/acme/callback?${response}`)).status
    }
    expect(await finish(now - 3600)).toBe(400)
    expect(await finish(undefined)).toBe(400)
    expect(await finish(now)).toBe(303)
  })
})

describe('a fresh sign-in with another provider, which an application demands,', () => {
  const redirect = 'https://app.example/callback'
  let client: string
  beforeAll(async () => {
    const created = await service.oauth.clients.create({
      name: 'App',
      redirect,
      grants: ['authorization_code'],
    })
    client = created.client.id
  })

  it.each([{ max_age: '3600' }, { prompt: 'login' }])(
    'is requested from the provider if the person is signed out here, and then leads to the approval screen: %o',
    async (demand) => {
      const claims = newClaims()
      const request = new URLSearchParams({
        ...{ response_type: 'code', client_id: client, redirect_uri: redirect, scope: 'openid' },
        ...demand,
      })
      const browser = service.browser()
      const asked = await browser.get(`/oauth/authorize?${request}`)
      const login = new URL(asked.headers.get('location') ?? '', service.url)
      expect(login.pathname).toBe('/login')
      const returnTo = login.searchParams.get('return_to') ?? ''
      const location = await press(browser, 'acme', { return_to: returnTo })
      expect(Object.fromEntries(new URL(location).searchParams)).toMatchObject({
        prompt: 'login',
        max_age: '0',
      })
      service.clock.advance({ seconds: 5 })
      const now = Math.floor(service.clock.now().getTime() / 1000)
      const response = standIn.approve(location, { ...claims, auth_time: now })
      const back = await browser.get(`/login/with/acme/callback?${response}`)
      expect(back.headers.get('location')).toBe(returnTo)
      const next = await browser.get(returnTo)
      expect([next.status, next.headers.get('location') ?? '']).not.toEqual([
        302,
        expect.stringContaining('login_required'),
      ])
      expect(next.status).toBe(200)
      expect(await next.text()).toContain('App')
    },
  )

  it('is requested by the provider buttons of the sign-in page, whether or not the person is signed in', async () => {
    const { browser } = await createAccount()
    for (const each of [browser, service.browser()]) {
      const html = await (await each.get('/login?prompt=login&return_to=/account')).text()
      const [, form = ''] = /action="\/login\/with\/acme">(.*?)<\/form>/.exec(html) ?? []
      expect(form).toContain('name="prompt" value="login"')
    }
  })
})

describe('linked accounts', () => {
  it('are added and removed by the person to whom they belong, and need no verified address', async () => {
    const { id, browser } = await createAccount()
    const claims = { ...newClaims(), email_verified: false }
    expect(target(await link(browser, claims))).toEqual([303, '/account/links?linked'])
    const html = await (await browser.get('/account/links')).text()
    expect(html).toContain('Acme')
    expect(html).toContain(claims.email)
    expect(await service.users.identities.list(id)).toHaveLength(1)
    expect(target(await link(browser, claims))).toEqual([303, '/account/links?linked'])
    expect(target(await unlink(browser, id))).toEqual([303, '/account/links?removed'])
    expect(await service.users.identities.list(id)).toEqual([])
    expect((await signInWith(service.browser(), claims)).status).toBe(403)
  })

  it('belong to one account only', async () => {
    const first = await createAccount()
    const second = await createAccount()
    const claims = newClaims()
    await link(first.browser, claims)
    const reply = await link(second.browser, claims)
    expect(reply.status).toBe(403)
    expect(await reply.text()).toContain('already linked with another account')
  })

  it('can be linked with another account after they were removed', async () => {
    const first = await createAccount()
    const second = await createAccount()
    const claims = newClaims(first.email)
    await link(first.browser, claims)
    await unlink(first.browser, first.id)
    const browser = service.browser()
    expect((await signInWith(browser, claims)).headers.get('location')).toContain('/login')
    expect(await whoIs(browser)).toBeNull()
    await link(second.browser, claims)
    const later = service.browser()
    await signInWith(later, claims)
    expect(await whoIs(later)).toBe(second.email)
  })

  it('cannot be removed if they are the only way to sign in, until there is a password (threat U6)', async () => {
    const claims = newClaims()
    const browser = service.browser()
    await signInWith(browser, claims)
    const { id = '' } = (await service.users.findByEmail(claims.email)) ?? {}
    const refused = await unlink(browser, id)
    expect(refused.status).toBe(409)
    expect(await refused.text()).toContain('Set a password')

    const set = async () =>
      browser.post('/account/password', {
        csrf_token: await browser.csrfToken(),
        password: 'battery staple',
      })
    service.clock.advance({ minutes: 11 })
    expect((await set()).headers.get('location')).toContain('/login?prompt=login')
    await signInWith(browser, claims)
    expect(target(await set())).toEqual([303, '/account?changed'])
    expect((await service.browser().signIn(claims.email, 'battery staple')).status).toBe(303)
    expect(target(await unlink(browser, id))).toEqual([303, '/account/links?removed'])
  })

  it('cannot both be removed at once from an account without a password (threat U6)', async () => {
    const claims = newClaims()
    const browser = service.browser()
    await signInWith(browser, claims)
    await link(browser, claims, 'second')
    const { id = '' } = (await service.users.findByEmail(claims.email)) ?? {}
    const replies = await Promise.all([unlink(browser, id, 'acme'), unlink(browser, id, 'second')])
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 409])
    expect(await service.users.identities.list(id)).toHaveLength(1)
  })

  it('need a recent sign-in to be added, and a form of this site (threat U6)', async () => {
    const { id, browser } = await createAccount()
    const csrf = await browser.csrfToken()
    expect((await browser.post('/account/links/with/acme', { csrf_token: 'x' })).status).toBe(403)
    service.clock.advance({ minutes: 11 })
    const reply = await browser.post('/account/links/with/acme', { csrf_token: csrf })
    expect(reply.headers.get('location')).toContain('/login?prompt=login')
    expect(await service.users.identities.list(id)).toEqual([])
  })

  it('are shown to operators and removed by them, with an audit entry, and are deleted with the account', async () => {
    const { tollgate } = createAccountHelpers(service)
    const { id, browser } = await createAccount()
    await link(browser, newClaims())
    const [entry] = await service.users.identities.list(id)
    const listed = JSON.parse((await tollgate('user', 'links', id, '--json')).stdout)
    expect(listed).toMatchObject([{ id: entry?.id, provider: 'acme', subject: entry?.subject }])
    const removed = await tollgate('user', 'unlink', id, '--link', entry?.id ?? '')
    expect(removed).toMatchObject({ code: 0, stderr: '' })
    expect(await service.users.identities.list(id)).toEqual([])
    expect((await tollgate('audit', 'list', '--json')).stdout).toContain('users.unlink')
    await link(browser, newClaims())
    await service.users.delete(id)
    expect(await service.users.identities.list(id)).toEqual([])
  })
})

describe('two concurrent responses of another provider', () => {
  it('create one account with one link for a new person', async () => {
    const claims = newClaims()
    const browsers = [service.browser(), service.browser(), service.browser()]
    const replies = await Promise.all(browsers.map((browser) => signInWith(browser, claims)))
    expect(replies.map(({ status }) => status)).toEqual([303, 303, 303])
    for (const browser of browsers) expect(await whoIs(browser)).toBe(claims.email)
  })

  it('link the identity with only one of two people', async () => {
    const claims = newClaims()
    const both = [await createAccount(), await createAccount()]
    const replies = await Promise.all(both.map(({ browser }) => link(browser, claims)))
    expect(replies.map(({ status }) => status).sort()).toEqual([303, 403])
  })
})
