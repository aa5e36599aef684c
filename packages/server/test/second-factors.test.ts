import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SettingsInput } from '../src/config/settings.ts'
import { computeTotpCode, totpStepAt } from '../src/factors/totp.ts'
import { rates } from '../src/limits/policies.ts'
import { createSoftAuthenticator } from './soft-authenticator.ts'
import { startTestService, type TestService } from './support.ts'

const PASSWORD = 'correct horse'

type Browser = ReturnType<TestService['browser']>

/** Functions for people with second factors on one service. */
function helpersOf(service: TestService) {
  let people = 0

  async function person(role: 'owner' | null = null) {
    people += 1
    const email = `ada${people}@example.com`
    const { id } = await service.users.create({ email, password: PASSWORD, role })
    return { id, email }
  }

  /** Adds an authenticator app. Returns a function that returns a fresh code. */
  async function addApp(user: { id: string; email: string }) {
    const enrolment = service.factors.beginTotp(user)
    const at = () => totpStepAt(service.clock.now())
    await service.factors.addTotp(user.id, enrolment, computeTotpCode(enrolment.secret, at()))
    return () => {
      service.clock.advance({ seconds: 30 })
      return computeTotpCode(enrolment.secret, at())
    }
  }

  const login = (browser: Browser, email: string, returnTo = '/account') =>
    browser.post('/login', { email, password: PASSWORD, return_to: returnTo })

  /** The redirect of a response. */
  const led = (response: Response) => [response.status, response.headers.get('location')]

  const isSignedIn = async (browser: Browser) => (await browser.get('/account')).status === 200

  async function challengeOn(browser: Browser, path: string): Promise<string> {
    const html = await (await browser.get(path)).text()
    const options = /data-options="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? '{}'
    return JSON.parse(options).challenge
  }

  const field = (html: string, name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? ''

  return { person, addApp, login, led, isSignedIn, challengeOn, field }
}

let service: TestService
let help: ReturnType<typeof helpersOf>
beforeAll(async () => {
  service = await startTestService({ settings: { stepUp: true } })
  help = helpersOf(service)
})
afterAll(() => service.stop())

/** The session of a browser, from its cookie. */
const sessionOf = (browser: Browser) =>
  service.sessions.find([...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '))

describe('signing in with an authenticator app', () => {
  it('asks for a code after the password, and only then starts a session with a new id', async () => {
    const user = await help.person()
    const nextCode = await help.addApp(user)
    const browser = service.browser()
    expect(help.led(await help.login(browser, user.email))).toEqual([303, '/login/second-step'])
    expect(browser.cookies.has('tollgate_session')).toBe(false)
    const page = await browser.get('/login/second-step')
    expect(await page.text()).toContain('Code from your authenticator app')
    const before = browser.cookies.get('tollgate_sign_in')

    const wrong = await browser.post('/login/second-step', { code: '000000' })
    expect([wrong.status, await wrong.text()]).toEqual([
      401,
      expect.stringContaining('code is wrong'),
    ])
    expect(await help.isSignedIn(browser)).toBe(false)

    const code = nextCode()
    expect(help.led(await browser.post('/login/second-step', { code }))).toEqual([303, '/account'])
    expect(await sessionOf(browser)).toMatchObject({ methods: ['pwd', 'otp', 'mfa'] })
    expect(browser.cookies.has('tollgate_sign_in')).toBe(false)
    expect(browser.cookies.get('tollgate_session')).not.toBe(before)

    const again = service.browser()
    await help.login(again, user.email)
    expect((await again.post('/login/second-step', { code })).status).toBe(401)
  })

  it('gives the pending sign-in access to nothing but its own pages (threat N12)', async () => {
    const user = await help.person()
    const nextCode = await help.addApp(user)
    const browser = service.browser()
    await help.login(browser, user.email)
    const pending = browser.cookies.get('tollgate_sign_in') ?? ''
    for (const path of ['/account', '/account/security', '/tokens', '/login/set-up', '/api/user']) {
      expect([path, (await browser.get(path)).status]).not.toEqual([path, 200])
    }
    browser.cookies.set('tollgate_session', pending)
    expect(await help.isSignedIn(browser)).toBe(false)
    const stranger = service.browser()
    expect(help.led(await stranger.get('/login/second-step'))).toEqual([303, '/login'])
    const code = nextCode()
    expect(help.led(await stranger.post('/login/second-step', { code }))).toEqual([303, '/login'])
    const foreign = await browser.post(
      '/login/second-step',
      { code },
      { origin: 'https://evil.example' },
    )
    expect(foreign.status).toBe(403)
    expect(await help.isSignedIn(stranger)).toBe(false)
  })

  it('ends the pending sign-in after ten minutes, with a new password, and when it is completed', async () => {
    const user = await help.person()
    const nextCode = await help.addApp(user)
    const [slow, other, twice] = [service.browser(), service.browser(), service.browser()]
    await help.login(slow, user.email)
    service.clock.advance({ minutes: 11 })
    expect(help.led(await slow.get('/login/second-step'))).toEqual([303, '/login'])
    await help.login(other, user.email)
    await service.sessions.endAll(user.id)
    expect(help.led(await other.get('/login/second-step'))).toEqual([303, '/login'])
    await help.login(twice, user.email)
    const code = nextCode()
    const sent = await Promise.all(
      [code, code].map((each) => twice.post('/login/second-step', { code: each })),
    )
    expect(sent.map(({ status }) => status).filter((status) => status === 303)).not.toHaveLength(0)
    expect(await service.sessions.list(user.id)).toHaveLength(1)
  })

  it('blocks an account for codes after ten wrong ones, but not for recovery codes (threat N12)', async () => {
    const user = await help.person()
    const nextCode = await help.addApp(user)
    const [recovery = ''] = await service.factors.renewRecoveryCodes(user.id)
    const browser = service.browser()
    await help.login(browser, user.email)
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await browser.post('/login/second-step', { code: '000000' })).status).toBe(401)
    }
    const elsewhere = service.browser()
    await help.login(elsewhere, user.email)
    expect((await elsewhere.post('/login/second-step', { code: nextCode() })).status).toBe(429)
    const recovered = await elsewhere.post('/login/second-step', { recovery })
    expect(help.led(recovered)).toEqual([303, '/account'])
    await help.login(service.browser(), user.email)
    const last = service.browser()
    await help.login(last, user.email)
    expect((await last.post('/login/second-step', { recovery })).status).toBe(401)
  })
})

describe('signing in with a passkey', () => {
  async function withPasskey() {
    const user = await help.person()
    const authenticator = createSoftAuthenticator()
    const origin = service.url
    const full = { ...user, name: null }
    const { challenge } = await service.factors.passkeys.registration(full, 's')
    const response = authenticator.create({ origin, challenge })
    await service.factors.addPasskey(user.id, { session: 's', response, name: 'Key' })
    return { user, get: (challenge: string) => authenticator.get({ origin, challenge }) }
  }

  it('works after the password, and without a password', async () => {
    const { user, get } = await withPasskey()
    const second = service.browser()
    await help.login(second, user.email)
    const challenge = await help.challengeOn(second, '/login/second-step')
    const passkey = get(challenge)
    const done = await second.post('/login/second-step', { passkey })
    expect(help.led(done)).toEqual([303, '/account'])
    expect(await sessionOf(second)).toMatchObject({ methods: ['pwd', 'pop', 'user', 'mfa'] })

    const only = service.browser()
    const form = { passkey: get(await help.challengeOn(only, '/login')), return_to: '/tokens' }
    expect(help.led(await only.post('/login/passkey', form))).toEqual([303, '/tokens'])
    expect(await sessionOf(only)).toMatchObject({ methods: ['pop', 'user', 'mfa'] })

    const replayed = await service.browser().post('/login/passkey', form)
    expect([replayed.status, await replayed.text()]).toEqual([
      401,
      expect.stringContaining('too long'),
    ])
    await service.users.setDisabled(user.id, true)
    const disabled = { passkey: get(await help.challengeOn(service.browser(), '/login')) }
    expect((await service.browser().post('/login/passkey', disabled)).status).toBe(401)
  })

  it('is limited per network, where only refused passkeys count', async () => {
    const refuse = () => service.browser().post('/login/passkey', { passkey: '' })
    const statuses = []
    for (let attempt = 0; attempt <= rates.passkeySignIns.points; attempt++) {
      statuses.push((await refuse()).status)
    }
    expect([statuses.at(0), statuses.at(-1)]).toEqual([401, 429])
    service.clock.advance({ minutes: 11 })
    expect((await refuse()).status).toBe(401)
  })

  it.each([{}, { passkey: '' }, { passkey: 'null' }, { passkey: '[]' }, { passkey: '{}' }])(
    'is refused for the form %j',
    async (form) => {
      expect((await service.browser().post('/login/passkey', form)).status).toBe(401)
    },
  )
})

describe('the page of second factors', () => {
  it('adds an authenticator app after a recent sign-in, which then counts for the session, and shows recovery codes once', async () => {
    const user = await help.person()
    const browser = service.browser()
    await help.login(browser, user.email)
    expect(await (await browser.get('/account/security')).text()).toContain('Authenticator app')
    const html = await (await browser.get('/account/security/app')).text()
    expect(html).toContain('<svg')
    const secret = (/<code class="code">([A-Z2-7 ]+)<\/code>/.exec(html)?.[1] ?? '').replaceAll(
      ' ',
      '',
    )
    const form = {
      csrf_token: await browser.csrfToken(),
      enrolment: help.field(html, 'enrolment'),
      code: '000000',
    }
    const wrong = await browser.post('/account/security/app', form)
    expect(wrong.status).toBe(422)
    expect(await wrong.text()).toContain(secret.slice(0, 4))
    const code = computeTotpCode(secret, totpStepAt(service.clock.now()))
    const before = browser.cookies.get('tollgate_session')
    const added = await browser.post('/account/security/app', { ...form, code })
    expect(help.led(added)).toEqual([303, '/account/security/recovery-codes'])
    expect(browser.cookies.get('tollgate_session')).not.toBe(before)
    expect(await sessionOf(browser)).toMatchObject({ methods: ['pwd', 'otp', 'mfa'] })
    const csrf_token = await browser.csrfToken()
    const codes = await (
      await browser.post('/account/security/recovery-codes', { csrf_token })
    ).text()
    const shown = codes.match(/<code>([0-9a-z-]{19})<\/code>/g) ?? []
    expect(shown).toHaveLength(10)
    const later = await (await browser.get('/account/security')).text()
    expect(later).toContain('10 unused recovery codes')
    expect(later).not.toContain(shown[0])
    expect(service.log()).not.toContain(secret)
  })

  it('requires a recent sign-in, and the second factor if the session began without it (threat N11)', async () => {
    const user = await help.person()
    const old = service.browser()
    await help.login(old, user.email)
    const nextCode = await help.addApp(user)
    const removal = '/account/security/app/remove'
    const asked = await old.post(removal, { csrf_token: await old.csrfToken(), decision: 'go' })
    const query = new URLSearchParams({ acr_values: 'mfa', return_to: removal })
    expect(help.led(asked)).toEqual([303, `/login?${query}`])
    expect(await service.factors.has(user.id)).toBe(true)

    expect(help.led(await old.get(`/login?${query}`))).toEqual([303, '/login/second-step'])
    expect(help.led(await old.post('/login/second-step', { code: nextCode() }))).toEqual([
      303,
      removal,
    ])
    service.clock.advance({ minutes: 11 })
    const fresh = new URLSearchParams({ prompt: 'login', return_to: removal })
    expect(help.led(await old.get(removal))).toEqual([303, `/login?${fresh}`])
    await help.login(old, user.email)
    await old.post('/login/second-step', { code: nextCode() })
    await old.post(removal, { csrf_token: await old.csrfToken(), decision: 'go' })
    expect(await service.factors.has(user.id)).toBe(false)
  })

  it('tells the person once that an operator has removed their factors', async () => {
    const user = await help.person()
    await help.addApp(user)
    await service.factors.reset(user.id)
    const browser = service.browser()
    const query = new URLSearchParams({ return_to: '/tokens' })
    expect(help.led(await help.login(browser, user.email, '/tokens'))).toEqual([
      303,
      `/account/security?${query}`,
    ])
    const told = await (await browser.get(`/account/security?${query}`)).text()
    expect(told).toContain('An operator removed your second factors')
    expect(told).toContain('href="/tokens"')
    expect(await (await browser.get('/account/security')).text()).not.toContain('An operator')
    expect(help.led(await help.login(service.browser(), user.email))).toEqual([303, '/account'])
  })

  it('shows data that is deleted together with the account', async () => {
    const user = await help.person()
    await help.addApp(user)
    await service.factors.renewRecoveryCodes(user.id)
    await service.users.delete(user.id)
    expect(await service.factors.list(user.id)).toEqual({
      passkeys: [],
      totp: null,
      recoveryCodes: 0,
    })
  })
})

describe('an application that asks for the acr mfa', () => {
  async function application() {
    const redirect = 'https://app.example.com/callback'
    const { client, secret } = await service.oauth.clients.create({
      name: 'Bank',
      redirect,
      firstParty: true,
    })
    return {
      authorize: (more: Record<string, string> = {}) =>
        `/oauth/authorize?${new URLSearchParams({
          response_type: 'code',
          client_id: client.id,
          redirect_uri: redirect,
          scope: 'openid',
          ...more,
        })}`,
      async claims(response: Response) {
        const code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? ''
        const body = new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: client.id,
          client_secret: secret ?? '',
          redirect_uri: redirect,
          code,
        })
        const tokens = await (
          await fetch(`${service.url}/oauth/token`, { method: 'POST', body })
        ).json()
        return decodeJwt(tokens.id_token)
      },
    }
  }

  it('gets it only after the second factor, and auth_time is the time at which the password was entered', async () => {
    const app = await application()
    const user = await help.person()
    const browser = service.browser()
    await help.login(browser, user.email)
    const plain = await app.claims(await browser.get(app.authorize()))
    expect(plain).toMatchObject({ acr: 'password', amr: ['pwd'] })
    const nextCode = await help.addApp(user)
    service.clock.advance({ minutes: 5 })

    const asked = await browser.get(app.authorize({ acr_values: 'mfa' }))
    const page = asked.headers.get('location') ?? ''
    expect(help.led(await browser.get(page))).toEqual([303, '/login/second-step'])
    const done = await browser.post('/login/second-step', { code: nextCode() })
    const strong = await app.claims(await browser.get(done.headers.get('location') ?? ''))
    expect(strong).toMatchObject({
      acr: 'mfa',
      amr: ['pwd', 'otp', 'mfa'],
      auth_time: plain.auth_time,
    })
    // The second factor alone does not make the password recent.
    const stale = await browser.get(app.authorize({ acr_values: 'mfa', max_age: '60' }))
    expect(stale.headers.get('location')).toContain('/login?')
    const whole = await browser.get(stale.headers.get('location') ?? '')
    expect([whole.status, await whole.text()]).toEqual([200, expect.stringContaining('Password')])
  })

  it('sends people without a factor to set one up, and lets them continue', async () => {
    const app = await application()
    const user = await help.person()
    const browser = service.browser()
    await help.login(browser, user.email)
    const asked = await browser.get(app.authorize({ acr_values: 'mfa' }))
    const sent = await browser.get(asked.headers.get('location') ?? '')
    expect(sent.headers.get('location')).toContain('/account/security?')
    const html = await (await browser.get(sent.headers.get('location') ?? '')).text()
    expect(html).toContain('requires a second factor')
    expect(html).toContain('better_sign_in')
  })

  it('finds it in the metadata of the server', async () => {
    const metadata = await (await fetch(`${service.url}/.well-known/openid-configuration`)).json()
    expect(metadata.acr_values_supported).toEqual(['password', 'mfa'])
  })
})

async function withService(settings: SettingsInput, test: (service: TestService) => Promise<void>) {
  const own = await startTestService({ settings })
  try {
    await test(own)
  } finally {
    await own.stop()
  }
}

/** Exchanges a password for tokens. Returns the error, or `tokens`. */
async function usePasswordGrant(at: TestService, email: string, password = PASSWORD) {
  const { client, secret } = await at.oauth.clients.create({ name: 'Old', grants: ['password'] })
  const body = new URLSearchParams({
    grant_type: 'password',
    client_id: client.id,
    client_secret: secret ?? '',
    username: email,
    password,
  })
  const response = await fetch(`${at.url}/oauth/token`, { method: 'POST', body })
  const json = await response.json()
  return json.access_token ? 'tokens' : `${json.error}: ${json.error_description}`
}

describe('the password grant', () => {
  it('refuses accounts with a second factor like a wrong password, unless it is allowed (threat N12)', async () => {
    const plain = await help.person()
    const user = await help.person()
    await help.addApp(user)
    const refused = await usePasswordGrant(service, user.email, 'a wrong password')
    expect(refused).toContain('invalid_grant')
    expect(await usePasswordGrant(service, user.email)).toBe(refused)
    expect(await usePasswordGrant(service, plain.email)).toBe('tokens')
    await withService({ passwordGrantWithSecondFactor: true }, async (own) => {
      const { addApp, person } = helpersOf(own)
      const allowed = await person()
      await addApp(allowed)
      expect(await usePasswordGrant(own, allowed.email)).toBe('tokens')
    })
  })
})

describe('the setting secondFactor', () => {
  it('required: gives no access to people who have not set up a factor', async () => {
    await withService({ secondFactor: 'required' }, async (own) => {
      const { person, login, led, isSignedIn, field } = helpersOf(own)
      const user = await person()
      expect(await usePasswordGrant(own, user.email)).toContain('invalid_grant')
      const browser = own.browser()
      expect(led(await login(browser, user.email, '/tokens'))).toEqual([303, '/login/set-up'])
      expect(await isSignedIn(browser)).toBe(false)
      expect(led(await browser.get('/login/second-step'))).toEqual([303, '/login'])
      const html = await (await browser.get('/login/set-up')).text()
      const secret = (/<code class="code">([A-Z2-7 ]+)</.exec(html)?.[1] ?? '').replaceAll(' ', '')
      const enrolment = field(html, 'enrolment')
      expect((await browser.post('/login/set-up', { enrolment, code: '1' })).status).toBe(422)
      const code = computeTotpCode(secret, totpStepAt(own.clock.now()))
      const query = new URLSearchParams({ return_to: '/tokens' })
      expect(led(await browser.post('/login/set-up', { enrolment, code }))).toEqual([
        303,
        `/account/security/recovery-codes?${query}`,
      ])
      expect((await browser.get(`/account/security/recovery-codes?${query}`)).status).toBe(200)
      expect(await isSignedIn(browser)).toBe(true)
      // A session from before the setting was changed counts as signed out.
      const { cookie } = await own.sessions.start(user.id, {
        methods: ['pwd'],
        address: null,
        browser: null,
      })
      expect(await own.sessions.find(cookie.split(';')[0] ?? '')).toBeNull()
    })
  })

  it('operators: requires a second factor from operators, even in sessions that began before the setting was changed', async () => {
    await withService({ secondFactor: 'operators' }, async (own) => {
      const { person, login, led } = helpersOf(own)
      const [user, operator] = [await person(), await person('owner')]
      expect(led(await login(own.browser(), user.email))).toEqual([303, '/account'])
      const browser = own.browser()
      expect(led(await login(browser, operator.email))).toEqual([303, '/login/set-up'])
      const { cookie } = await own.sessions.start(operator.id, {
        methods: ['pwd'],
        address: null,
        browser: null,
      })
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=')
      browser.cookies.set(name, value)
      const query = new URLSearchParams({ acr_values: 'mfa', return_to: '/admin' })
      expect(led(await browser.get('/admin'))).toEqual([303, `/login?${query}`])
      const api = await browser.api('/admin/v1/users')
      expect([api.status, api.body.detail]).toEqual([403, expect.stringContaining('second factor')])
    })
  })

  it.each(['operators', 'required'] as const)(
    '%s: when a person sets up the factor during a sign-in, all earlier sessions of the person end (threat N12)',
    async (secondFactor) => {
      await withService({ secondFactor }, async (own) => {
        const { person, login, led, field } = helpersOf(own)
        const operator = await person('owner')
        const thief = { methods: ['pwd'], address: null, browser: null }
        const { cookie, sessionId } = await own.sessions.start(operator.id, thief)
        const bystander = await own.sessions.start((await person()).id, thief)
        const browser = own.browser()
        expect(led(await login(browser, operator.email))).toEqual([303, '/login/set-up'])
        const html = await (await browser.get('/login/set-up')).text()
        const secret = (/<code class="code">([A-Z2-7 ]+)<\/code>/.exec(html)?.[1] ?? '').replaceAll(
          ' ',
          '',
        )
        const form = {
          enrolment: field(html, 'enrolment'),
          code: computeTotpCode(secret, totpStepAt(own.clock.now())),
        }
        expect((await browser.post('/login/set-up', form)).status).toBe(303)
        expect((await browser.get('/account')).status).toBe(200)
        const left = await own.sessions.list(operator.id)
        expect(left).toHaveLength(1)
        expect(left.map(({ id }) => id)).not.toContain(sessionId)
        const stolen = await fetch(`${own.url}/account`, {
          headers: { cookie },
          redirect: 'manual',
        })
        expect(stolen.status).toBe(302)
        const others = await own.database.kysely.selectFrom('sessions').select('id_hash').execute()
        expect(others.map(({ id_hash }) => id_hash)).toContain(bystander.sessionId)
      })
    },
  )

  it('off: there are no pages for second factors, and a sign-in asks for none', async () => {
    await withService({ secondFactor: 'off' }, async (own) => {
      const { person, login, led, addApp } = helpersOf(own)
      const user = await person()
      await addApp(user)
      const browser = own.browser()
      expect(led(await login(browser, user.email))).toEqual([303, '/account'])
      expect((await browser.get('/account/security')).status).toBe(404)
      expect(await (await own.browser().get('/login')).text()).not.toContain('passkey')
      expect(await usePasswordGrant(own, user.email)).toBe('tokens')
    })
  })
})
