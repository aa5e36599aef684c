import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPage } from './credentials.ts'
import { type App, frameworks } from './frameworks.ts'

function tollgateCookies(response: Response): string[] {
  return response.headers.getSetCookie().filter((cookie) => cookie.startsWith('tollgate_token='))
}

describe.each(frameworks)('cookie mode in $name', (framework) => {
  let app: App
  beforeAll(async () => {
    app = await framework.start()
  })
  afterAll(() => app.close())

  it('puts an HttpOnly, SameSite=Lax cookie on the page of a signed-in person', async () => {
    const { setCookies, csrfToken } = await openPage(app)
    expect(setCookies).toHaveLength(2)
    expect(setCookies).toContain('theme=dark')
    expect(setCookies.find((cookie) => cookie.startsWith('tollgate_token='))).toMatch(
      /^tollgate_token=[\w.-]{50,}; Path=\/; Max-Age=7200; HttpOnly; SameSite=Lax$/,
    )
    expect(csrfToken).toMatch(/^[\w-]{43}$/)
  })

  it('also sets the cookie on a response that redirects', async () => {
    const moved = await app.fetch('/moved', { headers: { cookie: 'session=ada.moved' } })
    expect(moved.status).toBe(303)
    expect(new URL(moved.headers.get('location') ?? '', app.url).pathname).toBe('/page')
    expect(tollgateCookies(moved)).toHaveLength(1)
  })

  it('sets no cookie in the response to a POST, or for a visitor without a session', async () => {
    const posted = await app.fetch('/page', {
      method: 'POST',
      headers: { cookie: 'session=ada.1', 'content-type': 'application/json' },
      body: '{}',
    })
    expect(posted.status).toBe(200)
    expect(tollgateCookies(posted)).toEqual([])
    expect(await posted.text()).toMatch(/content="[\w-]{43}"/)
    const stranger = await app.fetch('/page')
    expect(tollgateCookies(stranger)).toEqual([])
    expect(await stranger.text()).toContain('content=""')
  })

  it('lets the page call the API as the person, regardless of scopes', async () => {
    const { cookie, csrfToken } = await openPage(app)
    const headers = { cookie, 'x-csrf-token': csrfToken }
    const me = await app.fetch('/me', { headers })
    expect(await me.json()).toMatchObject({ id: 'ada', mayPlace: true, mayCheck: true })
    expect((await app.fetch('/orders', { headers })).status).toBe(200)
    expect((await app.fetch('/status', { headers })).status).toBe(200)
  })

  it('rejects the cookie without the CSRF token, or with the CSRF token of another session', async () => {
    const { cookie } = await openPage(app)
    const other = await openPage(app, 'session=ada.other')
    for (const headers of [
      { cookie },
      { cookie, 'x-csrf-token': 'wrong' },
      { cookie, 'x-csrf-token': other.csrfToken },
    ]) {
      const reply = await app.fetch('/me', { headers })
      expect(reply.status).toBe(401)
      expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  it('authenticates the person of the cookie, even if the session in the same request belongs to another person', async () => {
    const { cookie, csrfToken } = await openPage(app)
    const session = cookie.split('; ')[0] ?? ''
    const headers = { cookie: session, 'x-csrf-token': csrfToken }
    expect((await app.fetch('/me', { headers })).status).toBe(401)
  })

  it('is refused at routes for clients, because the cookie identifies a person', async () => {
    const { cookie, csrfToken } = await openPage(app)
    const headers = { cookie, 'x-csrf-token': csrfToken }
    expect((await app.fetch('/machine', { headers })).status).toBe(401)
  })

  it('rejects a request with an invalid bearer token even if it also has a valid cookie', async () => {
    const { cookie, csrfToken } = await openPage(app)
    const headers = { cookie, 'x-csrf-token': csrfToken, authorization: 'Bearer bad' }
    expect((await app.fetch('/me', { headers })).status).toBe(401)
  })

  it('renews the cookie with the next page once half of its lifetime is over', async () => {
    const { cookie, csrfToken } = await openPage(app)
    const again = () => app.fetch('/page', { headers: { cookie } })
    expect(tollgateCookies(await again())).toEqual([])
    app.clock.advance({ hours: 1 })
    expect(tollgateCookies(await again())).toHaveLength(1)
    app.clock.advance({ hours: 1 })
    const headers = { cookie, 'x-csrf-token': csrfToken }
    expect((await app.fetch('/me', { headers })).status).toBe(401)
  })

  it('renews the cookie with POST /oauth/token/refresh', async () => {
    const { cookie, csrfToken } = await openPage(app)
    const headers = { cookie, 'x-csrf-token': csrfToken }
    const refreshed = await app.fetch('/oauth/token/refresh', { method: 'POST', headers })
    expect(refreshed.status).toBe(200)
    const [renewed = ''] = tollgateCookies(refreshed)
    const me = await app.fetch('/me', {
      headers: { cookie: renewed.split(';')[0] ?? '', 'x-csrf-token': csrfToken },
    })
    expect(me.status).toBe(200)
  })

  it('deletes the cookie on the first page after sign-out', async () => {
    const { cookie } = await openPage(app)
    const [, token = ''] = cookie.split('; ')
    const page = await app.fetch('/page', { headers: { cookie: token } })
    expect(tollgateCookies(page)).toEqual([
      'tollgate_token=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    ])
    expect(await page.text()).toContain('content=""')
  })

  it('rejects a cookie that was kept after its session ended', async () => {
    const session = 'session=ada.signing-out'
    const { cookie, csrfToken } = await openPage(app, session)
    const headers = { cookie, 'x-csrf-token': csrfToken }
    expect((await app.fetch('/me', { headers })).status).toBe(200)
    await app.oauth.endSession('ada.signing-out')
    expect((await app.fetch('/me', { headers })).status).toBe(401)
  })
})

it('cookie mode sets the attribute Secure on its cookie when the issuer is https', async () => {
  const [framework] = frameworks.filter(({ overHttp }) => !overHttp)
  const app = await framework?.start({ issuer: 'https://app.example' })
  if (!app) throw new Error('There is no framework without HTTP')
  const { setCookies } = await openPage(app)
  expect(setCookies.join()).toMatch(/HttpOnly; SameSite=Lax; Secure/)
  await app.close()
})
