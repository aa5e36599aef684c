import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildSessionCookie, startServer, type TestServer } from '../support.ts'
import { type GuardedApp, guardedApp } from './guarded-app.ts'

let server: TestServer
let app: GuardedApp
beforeAll(async () => {
  server = await startServer()
  app = guardedApp(server)
})
afterAll(() => server.close())

let sessions = 0
/** Each test has its own session, so that ending one does not affect another test. */
let session: string
beforeEach(() => {
  sessions += 1
  session = `session=ada.cookie-mode-${sessions}`
})

interface Page {
  readonly csrfToken: string
  readonly setCookie: string | null
  readonly cookie: string
}

async function visitPage(headers: Record<string, string> = { cookie: session }): Promise<Page> {
  const reply = await app.get('/page', headers)
  const setCookie = reply.headers.get('set-cookie')
  const { csrfToken } = await reply.json()
  return { csrfToken, setCookie, cookie: setCookie?.split(';')[0] ?? '' }
}

const call = (cookie: string, csrfToken: string) =>
  app.get('/me', { cookie, 'x-csrf-token': csrfToken })

describe('cookie mode', () => {
  it('pages for signed-in people set the cookie tollgate_token, an encrypted JWT', async () => {
    const { setCookie, cookie } = await visitPage()
    expect(setCookie).toMatch(
      /^tollgate_token=[^;]+; Path=\/; Max-Age=7200; HttpOnly; SameSite=Lax$/,
    )
    const parts = cookie.replace('tollgate_token=', '').split('.')
    expect(parts).toHaveLength(5)
    const header = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString())
    expect(header).toEqual({ alg: 'dir', enc: 'A256GCM' })
  })

  it('the cookie is Secure on https', async () => {
    const https = await startServer({ issuer: 'https://api.example.com' })
    try {
      const reply = await guardedApp(https).get('/page', { cookie: session })
      expect(reply.headers.get('set-cookie')).toMatch(/; Secure$/)
    } finally {
      await https.close()
    }
  })

  it("the cookie authenticates requests of the application's own JavaScript", async () => {
    const { cookie, csrfToken } = await visitPage()
    const reply = await call(cookie, csrfToken)
    expect(reply.status).toBe(200)
    expect(await reply.json()).toMatchObject({ id: 'ada', email: 'ada@example.com' })
  })

  it('every request with the cookie must carry the CSRF token in X-CSRF-TOKEN', async () => {
    const { cookie, csrfToken } = await visitPage()
    for (const send of [app.get, app.post]) {
      expect((await send('/me', { cookie, 'x-csrf-token': csrfToken })).status).toBe(200)
      expect((await send('/me', { cookie })).status).toBe(401)
      expect((await send('/me', { cookie, 'x-csrf-token': '' })).status).toBe(401)
      expect((await send('/me', { cookie, 'x-csrf-token': `${csrfToken}x` })).status).toBe(401)
    }
  })

  it("another session's CSRF token is rejected (threat G6)", async () => {
    const { cookie } = await visitPage()
    const other = await visitPage({ cookie: 'session=ada.other' })
    const bob = await visitPage({ cookie: 'session=bob.1' })
    expect((await call(cookie, other.csrfToken)).status).toBe(401)
    expect((await call(cookie, bob.csrfToken)).status).toBe(401)
  })

  it('the cookie passes every scope check, like the user', async () => {
    const { cookie, csrfToken } = await visitPage()
    const reply = await app.get('/all', { cookie, 'x-csrf-token': csrfToken })
    expect(reply.status).toBe(200)
  })

  it('a visit to a page renews the cookie once half of its lifetime is over, and not before', async () => {
    const { cookie, csrfToken } = await visitPage()
    const both = { cookie: `${session}; ${cookie}` }
    server.clock.advance({ seconds: 3599 })
    expect((await visitPage(both)).setCookie).toBeNull()
    server.clock.advance({ seconds: 1 })
    const renewed = await visitPage(both)
    expect(renewed.setCookie).not.toBeNull()
    // The open tab continues with its CSRF token.
    expect(renewed.csrfToken).toBe(csrfToken)
    expect((await call(renewed.cookie, csrfToken)).status).toBe(200)
  })

  it('a page for a visitor without a session deletes the cookie of an earlier session', async () => {
    const { cookie } = await visitPage()
    const left = await visitPage({ cookie })
    expect(left.csrfToken).toBeNull()
    expect(left.setCookie).toMatch(/^tollgate_token=; Path=\/; Max-Age=0;/)
    expect((await visitPage({})).setCookie).toBeNull()
  })

  it('a page for another person replaces the cookie of the previous person', async () => {
    const { cookie } = await visitPage()
    const bob = await visitPage({ cookie: `session=bob.1; ${cookie}` })
    expect(await (await call(bob.cookie, bob.csrfToken)).json()).toMatchObject({ id: 'bob' })
  })
})

describe('POST /oauth/token/refresh', () => {
  const refresh = (cookie: string, csrfToken: string) =>
    server.request('/oauth/token/refresh', {
      method: 'POST',
      headers: { cookie, 'x-csrf-token': csrfToken, accept: 'application/json' },
    })

  it('renews the cookie of cookie mode', async () => {
    const { cookie, csrfToken } = await visitPage()
    server.clock.advance({ hours: 1 })
    const reply = await refresh(`${session}; ${cookie}`, csrfToken)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const renewed = reply.headers.get('set-cookie')?.split(';')[0] ?? ''
    server.clock.advance({ minutes: 90 })
    expect((await call(cookie, csrfToken)).status).toBe(401)
    expect((await call(renewed, csrfToken)).status).toBe(200)
  })

  it('requires the CSRF token', async () => {
    const { cookie } = await visitPage()
    const reply = await refresh(`${session}; ${cookie}`, 'wrong')
    expect(reply.status).toBe(403)
    expect(reply.headers.get('set-cookie')).toBeNull()
  })

  it('cannot extend a cookie beyond the end of its session', async () => {
    const { cookie, csrfToken } = await visitPage()
    const reply = await refresh(cookie, csrfToken)
    expect(reply.status).toBe(401)
    expect(reply.headers.get('set-cookie')).toBeNull()
  })
})

describe('the cookie of cookie mode is rejected', () => {
  it('after it has expired', async () => {
    const { cookie, csrfToken } = await visitPage()
    server.clock.advance({ seconds: 7199 })
    expect((await call(cookie, csrfToken)).status).toBe(200)
    server.clock.advance({ seconds: 1 })
    expect((await call(cookie, csrfToken)).status).toBe(401)
  })

  it('after the session was ended by endSession()', async () => {
    const { cookie, csrfToken } = await visitPage()
    const other = await visitPage({ cookie: 'session=ada.elsewhere' })
    await server.oauth.endSession(session.replace('session=', ''))
    expect((await call(cookie, csrfToken)).status).toBe(401)
    expect((await call(other.cookie, other.csrfToken)).status).toBe(200)
  })

  it('after the account was ended by revokeUser(), until the person signs in again (threat G6)', async () => {
    const { cookie, csrfToken } = await visitPage()
    const bob = await visitPage({ cookie: buildSessionCookie('bob') })
    server.clock.advance({ seconds: 1 })
    await server.oauth.revokeUser('ada')
    expect((await call(cookie, csrfToken)).status).toBe(401)
    expect((await call(bob.cookie, bob.csrfToken)).status).toBe(200)
    server.clock.advance({ seconds: 1 })
    const again = await visitPage({ cookie: 'session=ada.again' })
    expect((await call(again.cookie, again.csrfToken)).status).toBe(200)
  })

  it.each([
    ['it was altered', (value: string) => flip(value, 40)],
    ['its header is replaced', (value: string) => value.replace(/^[^.]+/, 'eyJhbGciOiJub25lIn0')],
    ['it is truncated', (value: string) => value.slice(0, -5)],
    ['only one part is left', (value: string) => value.split('.')[0] ?? ''],
    ['it is empty', () => ''],
    ['it is longer than any cookie', (value: string) => value + 'A'.repeat(5000)],
  ])('when %s (threat G6)', async (_what, damage) => {
    const { cookie, csrfToken } = await visitPage()
    const value = cookie.replace('tollgate_token=', '')
    expect((await call(`tollgate_token=${damage(value)}`, csrfToken)).status).toBe(401)
    expect((await call(cookie, csrfToken)).status).toBe(200)
  })

  it('when it is sent twice, because neither copy can be trusted (threat G7)', async () => {
    const { cookie, csrfToken } = await visitPage()
    expect((await call(`${cookie}; ${cookie}`, csrfToken)).status).toBe(401)
    expect((await call(`tollgate_token=x; ${cookie}`, csrfToken)).status).toBe(401)
    expect((await call(`xtollgate_token=x; ${cookie}`, csrfToken)).status).toBe(200)
  })

  it('when it was encrypted with another secret (threat G6)', async () => {
    const { cookie, csrfToken } = await visitPage()
    const other = await startServer({ secret: 'another secret of more than thirty-two characters' })
    try {
      const headers = { cookie, 'x-csrf-token': csrfToken }
      expect((await guardedApp(other).get('/me', headers)).status).toBe(401)
    } finally {
      await other.close()
    }
  })
})

describe('the management routes in cookie mode', () => {
  it('accept the cookie with its CSRF token', async () => {
    const { cookie, csrfToken } = await visitPage()
    const ask = (headers: Record<string, string>) =>
      server.request('/oauth/scopes', { headers: { accept: 'application/json', ...headers } })
    expect((await ask({ cookie, 'x-csrf-token': csrfToken })).status).toBe(200)
    expect((await ask({ cookie })).status).toBe(401)
  })
})

function flip(text: string, at: number): string {
  const other = text[at] === 'A' ? 'B' : 'A'
  return `${text.slice(0, at)}${other}${text.slice(at + 1)}`
}
