import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

type Browser = ReturnType<TestService['browser']>

const SCRIPT = `"><script>alert(1)</script><img src=x onerror=alert(1)>'&amp;`
const ESCAPED = '&lt;script&gt;alert(1)&lt;/script&gt;'

/** Requests that a browser would not send. */
describe('the pages of the service', () => {
  let service: TestService
  let demo: Browser
  beforeAll(async () => {
    service = await startTestService({
      settings: {
        name: 'Shop <b>&',
        scopes: { 'place-orders': SCRIPT, 'check-status': 'Check order status' },
      },
    })
    demo = service.browser()
    await demo.signIn(service.demo?.email ?? '', service.demo?.password ?? '')
  })
  afterAll(() => service.stop())

  function authorize(clientId: string, more: Record<string, string> = {}): string {
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: `${service.url}/callback`,
      response_type: 'code',
      scope: 'place-orders',
      ...more,
    })
    return `/oauth/authorize?${query}`
  }

  async function approve(browser: Browser, address: string): Promise<void> {
    const html = await (await browser.get(address)).text()
    const [, action = ''] = /action="([^"]+interaction[^"]+)"/.exec(html) ?? []
    const [, csrf = ''] = /name="csrf_token" value="([^"]+)"/.exec(html) ?? []
    const approved = await browser.post(action, { csrf_token: csrf, decision: 'approve' })
    expect(approved.headers.get('location')).toContain('code=')
  }

  const PAGES = [
    '/',
    '/clients',
    '/tokens',
    '/applications',
    '/login?again',
    '/register',
    '/nowhere',
    '/callback',
    '/oauth/authorize',
    '/oauth/logout',
    '/account/sessions',
  ]

  it.each(PAGES)('cannot be framed, cached or injected with script: %s', async (path) => {
    const browser = path.startsWith('/login') ? service.browser() : demo
    const response = await browser.get(path)
    const html = await response.text()
    expect(html).toContain('<!doctype html>')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("base-uri 'none'")
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('x-frame-options')).toBe('DENY')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('referrer-policy')).toBe('same-origin')
    expect(html).not.toMatch(/<script(?! type="module" src="\/assets\/(?:app|passkeys)-)/i)
    expect(html).not.toMatch(/<[^>]*\s(style|on\w+)=/i)
    expect(html).toContain('Shop &lt;b&gt;&amp;')
    expect(html).not.toContain('Shop <b>')
  })

  describe('HTML that a caller tries to inject', () => {
    let browser: Browser
    let clientId: string
    beforeAll(async () => {
      browser = service.browser()
      const account = { email: 'mallory@example.com', password: 'a long password', name: SCRIPT }
      expect((await browser.post('/register', account)).status).toBe(303)
      const body = { name: SCRIPT, redirect: `${service.url}/callback` }
      const created = await browser.api('/oauth/clients', { method: 'POST', body })
      expect(created.status).toBe(201)
      clientId = created.body.id
      const token = { name: SCRIPT, scopes: ['place-orders'] }
      const made = await browser.api('/oauth/personal-access-tokens', {
        method: 'POST',
        body: token,
      })
      expect(made.status).toBe(201)
    })

    it.each(['/', '/clients', '/tokens', '/oauth/authorize'])('is escaped on %s', async (path) => {
      const address = path === '/oauth/authorize' ? authorize(clientId) : path
      const html = await (await browser.get(address)).text()
      expect(html).toContain(ESCAPED)
      expect(html).not.toMatch(/<script>|<img src=x/)
    })

    it('is escaped in the list of applications', async () => {
      await approve(browser, authorize(clientId))
      const list = await (await browser.get('/applications')).text()
      expect(list).toContain(ESCAPED)
      expect(list).not.toMatch(/<script>|<img src=x/)
    })

    it.each([
      ['sign-in', `/login?return_to=${encodeURIComponent(`/${SCRIPT}`)}`],
      ['registration', `/register?return_to=${encodeURIComponent(`/${SCRIPT}`)}`],
      ['the demonstration', `/callback?code=${encodeURIComponent(SCRIPT)}`],
      ['a refused request', `/oauth/authorize?client_id=${encodeURIComponent(SCRIPT)}`],
      ['a page that is not there', `/${encodeURIComponent(SCRIPT)}`],
    ])('is escaped or removed on %s', async (_name, path) => {
      const html = await (await service.browser().get(path)).text()
      expect(html).toContain('<!doctype html>')
      expect(html).not.toMatch(/<script>|<img src=x/)
    })

    it('is escaped in error messages', async () => {
      const stranger = service.browser()
      const refused = [
        await stranger.post('/login', { email: SCRIPT, password: 'x' }),
        await stranger.post('/register', { email: SCRIPT, name: SCRIPT, password: 'x' }),
      ]
      expect(refused.map(({ status }) => status)).toEqual([401, 422])
      for (const response of refused) {
        const html = await response.text()
        expect(html).toContain(ESCAPED)
        expect(html).not.toMatch(/<script>|<img src=x/)
      }
    })

    it('cannot extend the content security policy by a redirect URI', async () => {
      const target = 'https://a.example;script-src%20*/'
      const returnTo = `/oauth/authorize?redirect_uri=${encodeURIComponent(target)}`
      const path = `/login?return_to=${encodeURIComponent(returnTo)}`
      const response = await service.browser().get(path)
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy.split(';').filter((part) => part.includes('script-src'))).toEqual([
        " script-src 'self'",
      ])
    })
  })

  describe('a forged form', () => {
    const FORMS = ['/logout', '/applications/revoke', '/account/sessions/end']

    it.each(FORMS)('is rejected if it lacks the CSRF token of the session: %s', async (path) => {
      const csrf = await demo.csrfToken()
      const foreign = service.browser()
      await foreign.post('/register', {
        email: `${path.length}@example.com`,
        password: 'long enough',
      })
      const attempts = [
        await demo.post(path, {}),
        await demo.post(path, { csrf_token: '' }),
        await demo.post(path, { csrf_token: `${csrf}x` }),
        await demo.post(path, { csrf_token: await foreign.csrfToken() }),
        await demo.post(path, { csrf_token: csrf }, { origin: 'https://evil.example' }),
        await demo.post(path, { csrf_token: csrf }, { origin: 'null' }),
        await demo.request(path, {
          method: 'POST',
          headers: { origin: service.url, 'content-type': 'text/plain' },
          body: `csrf_token=${csrf}`,
        }),
      ]
      expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => 403))
      expect((await demo.get('/')).status).toBe(200)
    })

    it.each(['/login', '/register', '/demo/start', '/callback'])(
      'is rejected from another origin: %s',
      async (path) => {
        const { email = '', password = '' } = service.demo ?? {}
        const form = { email, password, flow: 'web', code: 'x' }
        const browser = service.browser()
        for (const origin of ['https://evil.example', 'null']) {
          expect((await browser.post(path, form, { origin })).status).toBe(403)
        }
        expect(browser.cookies.size).toBe(0)
      },
    )

    it('cannot revoke anything that belongs to another person', async () => {
      const clientId = service.demo?.clients.web?.id ?? ''
      await approve(demo, authorize(clientId))
      const stranger = service.browser()
      await stranger.post('/register', { email: 'eve@example.com', password: 'long enough' })
      const csrf = await stranger.csrfToken()
      for (const client of [clientId, 'nobody', '']) {
        const form = { csrf_token: csrf, client }
        expect((await stranger.post('/applications/revoke', form)).status).toBe(303)
      }
      expect(await (await demo.get('/applications')).text()).toContain('Demo web application')
      const form = { csrf_token: await demo.csrfToken(), client: clientId }
      await demo.post('/applications/revoke', form)
      expect(await (await demo.get('/applications')).text()).toContain('No applications yet')
    })
  })

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example',
    '/%09/evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    ' //evil.example',
    '',
  ])('never redirect to another site after the sign-in: %j', async (returnTo) => {
    const { email = '', password = '' } = service.demo ?? {}
    const browser = service.browser()
    const response = await browser.post('/login', { email, password, return_to: returnTo })
    expect(response.status).toBe(303)
    const location = new URL(response.headers.get('location') ?? '', service.url)
    expect(location.origin).toBe(service.url)
    const again = await browser.get(`/login?return_to=${encodeURIComponent(returnTo)}`)
    expect(new URL(again.headers.get('location') ?? '', service.url).origin).toBe(service.url)
  })

  it('show a secret or token only once', async () => {
    const browser = service.browser()
    await browser.post('/register', { email: 'ida@example.com', password: 'long enough' })
    const redirect = 'https://a.example/'
    const client = await browser.api('/oauth/clients', {
      method: 'POST',
      body: { name: 'A', redirect },
    })
    const token = await browser.api('/oauth/personal-access-tokens', {
      method: 'POST',
      body: { name: 'B', scopes: [] },
    })
    const pages = await Promise.all(
      ['/', '/clients', '/tokens', '/applications'].map(async (path) =>
        (await browser.get(path)).text(),
      ),
    )
    const stored = await service.oauth.clients.find(client.body.id)
    for (const secret of [client.body.secret, token.body.accessToken, stored?.secretHash]) {
      expect(secret).toBeTruthy()
      expect(pages.join('\n')).not.toContain(secret)
    }
    expect(service.log()).not.toContain(client.body.secret)
  })

  it('contain nothing of the demo in production, and no registration if registration is off', async () => {
    const closed = await startTestService({
      environment: {
        TOLLGATE_URL: 'https://shop.example.com',
        TOLLGATE_SECRET: randomBytes(32).toString('base64'),
        STRIPE_SECRET: 'sk_test_0123456789',
        STRIPE_WEBHOOK_SECRET: 'whsec_0123456789',
        TOLLGATE_REGISTRATION: 'off',
      },
    })
    try {
      const local = `http://127.0.0.1:${closed.port}`
      const headers = { accept: 'text/html' }
      const status = async (path: string, method = 'GET') =>
        (await fetch(local + path, { method, headers })).status
      expect(await status('/callback')).toBe(404)
      expect(await status('/demo/start', 'POST')).toBe(404)
      expect(await status('/register')).toBe(404)
      const login = await (await fetch(`${local}/login`, { headers })).text()
      expect(login).toContain('name="password"')
      expect(login).not.toContain('/register')
    } finally {
      await closed.stop()
    }
  })
})
