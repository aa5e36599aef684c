import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
  await service.users.create({
    email: EMAIL,
    password: PASSWORD,
    name: '<script>alert(1)</script>',
  })
})
afterAll(() => service.stop())

const sessionOf = (browser: ReturnType<TestService['browser']>) =>
  browser.cookies.get('tollgate_session')

describe('an application that requires a new sign-in', () => {
  it('gets no response until the signed-in person has entered their password again', async () => {
    const { client } = await service.oauth.clients.create({
      name: 'Bank',
      redirect: 'https://bank.example/callback',
      firstParty: true,
    })
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    service.clock.advance({ seconds: 60 })
    const request = `/oauth/authorize?client_id=${client.id}&response_type=code`
    const silent = await browser.get(request)
    expect(silent.headers.get('location')).toContain('code=')

    const asked = await browser.get(`${request}&prompt=login`)
    const signInPage = asked.headers.get('location') ?? ''
    const page = await browser.get(signInPage)
    expect(page.status).toBe(200)
    const html = await page.text()
    expect(html).toContain('Sign in again')
    expect(html).toContain(EMAIL)

    service.clock.advance({ seconds: 1 })
    const returnTo = new URL(signInPage, service.url).searchParams.get('return_to') ?? ''
    const unchanged = await browser.get(returnTo)
    expect(unchanged.headers.get('location')).toContain('error=login_required')

    const form = { email: EMAIL, password: PASSWORD, return_to: returnTo }
    const back = await browser.post('/login', form)
    const answered = await browser.get(back.headers.get('location') ?? '')
    expect(answered.headers.get('location')).toContain('code=')
  })
})

describe('a person who wants to use another account', () => {
  it('can stay signed in after a wrong password, and can switch between registration and sign-in', async () => {
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    const form = { email: 'bob@example.com', password: 'wrong', return_to: '/tokens' }
    const wrong = await browser.post('/login', { ...form, prompt: 'select_account' })
    expect(wrong.status).toBe(401)
    const html = await wrong.text()
    expect(html).toContain('Use another account')
    expect(html).toContain('<a href="/tokens">Stay signed in</a>')
    const registering = await (await browser.get('/register?return_to=/tokens')).text()
    const [, link = ''] = /<a href="(\/login[^"]+)">Sign in/.exec(registering) ?? []
    const signIn = await browser.get(link.replaceAll('&amp;', '&'))
    expect(signIn.status).toBe(200)
    expect(await signIn.text()).toContain('Use another account')
  })
})

describe('a browser that does not accept cookies', () => {
  const fieldsOf = (html: string) => ({
    cookies: /name="cookies" value="([^"]+)"/.exec(html)?.[1] ?? '',
  })

  it('gets a page that explains the problem, instead of the sign-in page again', async () => {
    const html = await (await service.browser().get('/login')).text()
    const form = { ...fieldsOf(html), email: EMAIL, password: PASSWORD }
    const reply = await service.browser().post('/login', form)
    expect(reply.status).toBe(400)
    expect(await reply.text()).toContain('does not accept cookies')
    expect(reply.headers.getSetCookie().join()).not.toContain('tollgate_session')
  })

  it('cannot register', async () => {
    const html = await (await service.browser().get('/register')).text()
    const form = { ...fieldsOf(html), email: 'carol@example.com', password: PASSWORD }
    const reply = await service.browser().post('/register', form)
    expect(reply.status).toBe(400)
    expect(await reply.text()).toContain('does not accept cookies')
    expect(await service.users.findByEmail('carol@example.com')).toBeNull()
  })

  it('is told apart from a browser that accepts cookies', async () => {
    const browser = service.browser()
    const html = await (await browser.get('/login')).text()
    const form = { ...fieldsOf(html), email: EMAIL, password: PASSWORD }
    expect((await browser.post('/login', form)).status).toBe(303)
  })
})

describe('sign-in', () => {
  it('answers an unknown e-mail address and a wrong password alike (threat T8)', async () => {
    const wrong = await service.browser().signIn(EMAIL, 'wrong password')
    const unknown = await service.browser().signIn('bob@example.com', 'wrong password')
    expect(wrong.status).toBe(401)
    expect(unknown.status).toBe(401)
    // The challenge for a passkey is random.
    const textOf = async (page: Response) =>
      (await page.text()).replace(/&quot;challenge&quot;:&quot;[\w-]+&quot;/, '')
    expect(await textOf(wrong)).toBe((await textOf(unknown)).replace('bob@example.com', EMAIL))
  })

  it('accepts the address in any case and with spaces around it, but only the exact password', async () => {
    const signIn = async (email: string, password: string) =>
      (await service.browser().signIn(email, password)).status
    expect(await signIn(' ADA@Example.com ', PASSWORD)).toBe(303)
    expect(await signIn(EMAIL, `${PASSWORD} `)).toBe(401)
    expect(await signIn(EMAIL, PASSWORD.toUpperCase())).toBe(401)
    expect(await signIn(EMAIL, 'x'.repeat(2000))).toBe(401)
    expect(await signIn('\u0430da@example.com', PASSWORD)).toBe(401)
    expect(await signIn("' or 1=1 --", PASSWORD)).toBe(401)
  })

  it('stores the session hashed, and creates a new one each time', async () => {
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    const first = sessionOf(browser) ?? ''
    await browser.signIn(EMAIL, PASSWORD)
    const second = sessionOf(browser) ?? ''
    expect(second).not.toBe(first)
    const rows = await service.database.kysely.selectFrom('sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(second)
    browser.cookies.set('tollgate_session', first)
    expect((await browser.get('/')).status).toBe(302)
  })

  it('does not continue a session that an attacker planted (threat G8)', async () => {
    const browser = service.browser()
    const planted = 'a'.repeat(43)
    browser.cookies.set('tollgate_session', planted)
    await browser.signIn(EMAIL, PASSWORD)
    expect(sessionOf(browser)).not.toBe(planted)
  })

  it('ignores a session cookie that was sent twice', async () => {
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    const cookie = `tollgate_session=${sessionOf(browser)}`
    const twice = await fetch(`${service.url}/`, {
      headers: { cookie: `${cookie}; ${cookie}` },
      redirect: 'manual',
    })
    expect(twice.status).toBe(302)
  })

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example/', 'javascript:alert(1)'])(
    'never redirects to %s',
    async (returnTo) => {
      const browser = service.browser()
      const form = { email: EMAIL, password: PASSWORD, return_to: returnTo }
      const response = await browser.post('/login', form)
      expect(response.headers.get('location')).toBe('/')
    },
  )

  it('rejects forms from another site, and other content types', async () => {
    const form = { email: EMAIL, password: PASSWORD }
    const foreign = await service.browser().post('/login', form, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
    const json = await service.browser().request('/login', {
      method: 'POST',
      headers: { origin: service.url, 'content-type': 'text/plain' },
      body: new URLSearchParams(form).toString(),
    })
    expect(json.status).toBe(403)
    expect(foreign.headers.getSetCookie()).toEqual([])
  })

  it('escapes the names of people', async () => {
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    const page = await (await browser.get('/')).text()
    expect(page).not.toContain('<script>alert')
    expect(page).toContain('&lt;script&gt;alert')
  })
})

describe('a session', () => {
  it('ends after a week without use, and after a month in any case', async () => {
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    for (let day = 6; day < 30; day += 6) {
      service.clock.advance({ days: 6 })
      expect((await browser.get('/')).status).toBe(200)
    }
    service.clock.advance({ days: 6 })
    expect((await browser.get('/')).status).toBe(302)

    await browser.signIn(EMAIL, PASSWORD)
    service.clock.advance({ days: 7 })
    expect((await browser.get('/')).status).toBe(302)
    service.clock.advance({ days: 30 })
    expect(await service.sessions.purge()).toBeGreaterThan(0)
    expect(await service.database.kysely.selectFrom('sessions').selectAll().execute()).toEqual([])
  })

  it('is ended on the server, together with cookie mode, and only by a form with its CSRF token', async () => {
    const browser = service.browser()
    await browser.signIn(EMAIL, PASSWORD)
    const other = service.browser()
    await other.signIn(EMAIL, PASSWORD)
    const csrf = await browser.csrfToken()
    expect((await browser.post('/logout', {})).status).toBe(403)
    expect((await browser.post('/logout', { csrf_token: await other.csrfToken() })).status).toBe(
      403,
    )
    expect((await browser.get('/')).status).toBe(200)
    const cookies = new Map(browser.cookies)
    expect((await browser.post('/logout', { csrf_token: csrf })).status).toBe(303)
    expect(sessionOf(browser)).toBeUndefined()
    for (const [name, value] of cookies) browser.cookies.set(name, value)
    expect((await browser.get('/')).status).toBe(302)
    for (const [name, value] of cookies) browser.cookies.set(name, value)
    const api = await browser.request('/api/user', { headers: { 'x-csrf-token': csrf } })
    expect(api.status).toBe(401)
    // Other sessions of the same person continue.
    expect((await other.get('/')).status).toBe(200)
  })
})

describe('registration', () => {
  it('explains what is wrong, and keeps valid input except the password', async () => {
    const browser = service.browser()
    const response = await browser.post('/register', { email: 'grace@', password: 'short' })
    expect(response.status).toBe(422)
    const page = await response.text()
    expect(page).toContain('ada@example.com')
    expect(page).toContain('at least 8 characters')
    expect(page).toContain('value="grace@"')
    expect(page).not.toContain('short')
    const taken = await browser.post('/register', { email: 'ADA@example.com', password: PASSWORD })
    expect(taken.status).toBe(422)
  })

  it('ignores form fields that would give the new account more rights', async () => {
    const form = { email: 'eve@example.com', password: PASSWORD, role: 'owner', demo: '1', id: '1' }
    await service.browser().post('/register', form)
    const eve = await service.users.findByEmail('eve@example.com')
    expect(eve).toMatchObject({ role: null })
    expect(eve?.id).not.toBe('1')
  })

  it('creates one account from five concurrent forms', async () => {
    const form = { email: 'twins@example.com', password: PASSWORD }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.browser().post('/register', form)),
    )
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(4)
  })
})

describe('registration that is switched off', () => {
  let closed: TestService
  beforeAll(async () => {
    closed = await startTestService({ environment: { TOLLGATE_REGISTRATION: 'off' } })
  })
  afterAll(() => closed.stop())

  it('has no page and no link', async () => {
    expect(await (await closed.browser().get('/login')).text()).not.toContain('/register')
    expect((await closed.browser().get('/register')).status).toBe(404)
    const form = { email: EMAIL, password: PASSWORD }
    expect((await closed.browser().post('/register', form)).status).toBe(404)
  })
})
