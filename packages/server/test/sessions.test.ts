import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery'
const CALLBACK = 'https://bookshop.example/callback'
const HOME = 'https://bookshop.example/bye'
const HOUR = 3600
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0'

let service: TestService
let client: { id: string; secret: string }
beforeAll(async () => {
  service = await startTestService({ settings: { cors: true } })
  await service.users.create({ email: EMAIL, password: PASSWORD, name: 'Ada Lovelace' })
  await service.users.create({ email: 'bob@example.com', password: PASSWORD, name: null })
  const made = await service.oauth.clients.create({
    name: 'Bookshop',
    redirect: CALLBACK,
    firstParty: true,
    settings: { post_logout_redirect_uris: [HOME] },
  })
  client = { id: made.client.id, secret: made.secret ?? '' }
})
afterAll(() => service.stop())

type Browser = ReturnType<TestService['browser']>

async function signedIn(email = EMAIL): Promise<Browser> {
  const browser = service.browser()
  await browser.post('/login', { email, password: PASSWORD }, { 'user-agent': FIREFOX })
  return browser
}

/** The ID token that the bookshop gets through this browser. */
async function visitBookshop(browser: Browser): Promise<string> {
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
  })
  const back = await browser.get(`/oauth/authorize?${query}`)
  const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? ''
  const reply = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: CALLBACK,
      client_id: client.id,
      client_secret: client.secret,
    }),
  })
  return (await reply.json()).id_token
}

/** Follows a link. Uses `node:http`, because `fetch()` cannot send `Sec-Fetch-Mode: navigate`. */
function follow(browser: Browser, path: string): Promise<{ location?: string; cookies: string[] }> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return new Promise((resolve, reject) => {
    const headers = { cookie, accept: 'text/html', 'sec-fetch-mode': 'navigate' }
    get(new URL(path, service.url), { headers }, (response) => {
      response.resume()
      const { location, 'set-cookie': cookies = [] } = response.headers
      resolve({ ...(location !== undefined && { location }), cookies })
    }).on('error', reject)
  })
}

const isIn = async (browser: Browser) => (await browser.get('/account')).status === 200
const sessionsIn = (html: string) =>
  [...html.matchAll(/sessions\/end\?session=([^"]+)"/g)].map(([, id = '']) => id)

describe('the list of sessions', () => {
  it('shows for each session its browser, its applications and a way to end it', async () => {
    const here = await signedIn()
    const there = await signedIn()
    await visitBookshop(there)
    const html = await (await here.get('/account/sessions')).text()
    expect(html).toContain('Firefox on Windows')
    expect(html).toContain('Bookshop')
    expect(html).toContain('This session')
    const [other = ''] = sessionsIn(html)
    const csrf_token = await here.csrfToken()
    const asked = await (await here.get(`/account/sessions/end?session=${other}`)).text()
    expect(asked).toContain(`name="session" value="${other}"`)
    await here.post('/account/sessions/end', { csrf_token, session: other, decision: 'stay' })
    expect(sessionsIn(await (await here.get('/account/sessions')).text())).toEqual([other])
    const reply = await here.post('/account/sessions/end', { csrf_token, session: other })
    expect(reply.headers.get('location')).toBe('/account/sessions')
    expect(await isIn(there)).toBe(false)
    expect(await isIn(here)).toBe(true)
    expect(sessionsIn(await (await here.get('/account/sessions')).text())).toEqual([])
  })

  it('ends all other sessions immediately', async () => {
    const here = await signedIn()
    const others = [await signedIn(), await signedIn()]
    const csrf_token = await here.csrfToken()
    await here.post('/account/sessions/end-others', { csrf_token })
    expect(await Promise.all([here, ...others].map(isIn))).toEqual([true, false, false])
  })

  it('ends no session of another person, and no session by a forged form', async () => {
    const ada = await signedIn()
    const second = await signedIn()
    const bob = await signedIn('bob@example.com')
    const [session = ''] = sessionsIn(await (await second.get('/account/sessions')).text())
    expect(session).not.toBe('')
    const csrf_token = await bob.csrfToken()
    await bob.post('/account/sessions/end', { csrf_token, session })
    const foreign = await second.post('/account/sessions/end', { csrf_token: 'x', session })
    expect(foreign.status).toBe(403)
    expect(await isIn(ada)).toBe(true)
  })
})

describe('a database that fails during a sign-out or sign-in', () => {
  /** Runs `act` while nothing can be written to the revocation feed. */
  async function withoutFeed(act: () => Promise<Response>): Promise<void> {
    const { kysely } = service.database
    await kysely.schema.alterTable('oauth_revocations').renameTo('gone_for_now').execute()
    try {
      expect((await act()).status).toBeGreaterThanOrEqual(500)
    } finally {
      await kysely.schema.alterTable('gone_for_now').renameTo('oauth_revocations').execute()
    }
  }
  const atBookshop = async (idToken: string) => {
    const [, payload = ''] = idToken.split('.')
    const { sub, sid } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const sessions = await service.oauth.sessions.listByUser(sub)
    return sessions.some((session) => session.sid === sid)
  }

  it('keeps the session as long as its end cannot be recorded for its applications, however it is ended (threat N5)', async () => {
    const [browser, here] = [await signedIn(), await signedIn()]
    const idToken = await visitBookshop(browser)
    const csrf_token = await browser.csrfToken()
    await withoutFeed(() => browser.post('/logout', { csrf_token }))
    expect(await isIn(browser)).toBe(true)
    const [session = ''] = sessionsIn(await (await here.get('/account/sessions')).text())
    const own = await here.csrfToken()
    await withoutFeed(() => here.post('/account/sessions/end', { csrf_token: own, session }))
    expect(await isIn(browser)).toBe(true)
    expect(await atBookshop(idToken)).toBe(true)
    await browser.post('/logout', { csrf_token })
    expect([await isIn(browser), await atBookshop(idToken)]).toEqual([false, false])
    await here.post('/logout', { csrf_token: own })
  })

  it("keeps the session when another person's sign-in fails (threat N5)", async () => {
    const browser = await signedIn()
    const idToken = await visitBookshop(browser)
    const form = { email: 'bob@example.com', password: PASSWORD }
    await withoutFeed(() => browser.post('/login', form))
    expect(await (await browser.get('/account')).text()).toContain(EMAIL)
    await browser.post('/login', form)
    expect(await (await browser.get('/account')).text()).toContain('bob@example.com')
    expect(await atBookshop(idToken)).toBe(false)
  })
})

describe('sign-out by an application', () => {
  it('happens immediately with the ID token of the session, and deletes the cookies', async () => {
    const browser = await signedIn()
    const hint = await visitBookshop(browser)
    const query = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: HOME })
    const { location, cookies } = await follow(browser, `/oauth/logout?${query}`)
    expect(location).toBe(HOME)
    expect(cookies.map((each) => each.replace(/; Path.*Max-Age=0;.*/, ''))).toEqual([
      'tollgate_session=',
      'tollgate_token=',
    ])
    expect(await isIn(browser)).toBe(false)
  })

  it('asks for confirmation if the ID token is missing', async () => {
    const browser = await signedIn()
    const html = await (await browser.get('/oauth/logout')).text()
    expect(html).toContain(EMAIL)
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const stay = await browser.post('/oauth/logout', { csrf_token, decision: 'stay' })
    expect(await stay.text()).toContain('You are still signed in')
    const done = await browser.post('/oauth/logout', { csrf_token, decision: 'sign_out' })
    expect(await done.text()).toContain('You are signed out')
    expect(await isIn(browser)).toBe(false)
  })

  it('still works after the person has signed in again', async () => {
    const browser = await signedIn()
    const hint = await visitBookshop(browser)
    await browser.signIn(EMAIL, PASSWORD)
    const query = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: HOME })
    expect((await follow(browser, `/oauth/logout?${query}`)).location).toBe(HOME)
  })
})

describe('a client with a logout URL at a private address', () => {
  it('is not notified', async () => {
    const asked: string[] = []
    const http = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    const made = await service.oauth.clients.create({
      name: 'Neighbour',
      redirect: CALLBACK,
      firstParty: true,
      settings: { backchannel_logout_uri: `http://127.0.0.1:${port}/logout` },
    })
    const before = client
    client = { id: made.client.id, secret: made.secret ?? '' }
    const browser = await signedIn()
    await visitBookshop(browser)
    client = before
    await browser.post('/logout', { csrf_token: await browser.csrfToken() })
    expect(await service.oauth.deliver()).toBe(0)
    expect(asked).toEqual([])
    await new Promise((resolve) => http.close(resolve))
  })
})

describe('pages on other origins', () => {
  const ORIGIN = 'https://bookshop.example'
  const ask = (path: string, method: string) =>
    fetch(`${service.url}${path}`, {
      method: 'OPTIONS',
      headers: { origin: ORIGIN, 'access-control-request-method': method },
    })

  it('may call the token endpoint and the API, and nothing else', async () => {
    const allowed = (reply: Response) => reply.headers.get('access-control-allow-origin')
    expect(allowed(await ask('/oauth/token', 'POST'))).toBe(ORIGIN)
    expect(allowed(await ask('/api/user', 'GET'))).toBe(ORIGIN)
    const user = await fetch(`${service.url}/api/user`, { headers: { origin: ORIGIN } })
    expect([user.status, allowed(user)]).toEqual([401, ORIGIN])
    for (const path of ['/login', '/account', '/oauth/clients', '/oauth/authorize']) {
      expect(allowed(await ask(path, 'GET'))).toBe(null)
    }
  })
})

it('the service updates the time of last use of a session from time to time', async () => {
  const browser = await signedIn()
  const lastSeen = async () => {
    const rows = service.database.kysely.selectFrom('sessions').select('seen_at')
    return Number((await rows.orderBy('seen_at', 'desc').executeTakeFirstOrThrow()).seen_at)
  }
  const before = await lastSeen()
  service.clock.advance({ hours: 1 })
  expect(await isIn(browser)).toBe(true)
  expect((await lastSeen()) - before).toBe(HOUR * 1000)
})
