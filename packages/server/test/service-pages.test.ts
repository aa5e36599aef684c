import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SettingsInput } from '../src/config/settings.ts'
import { ConfigurationError } from '../src/configuration-error.ts'
import { startTestService, type TestService } from './support.ts'

const ACCOUNT = { email: 'ada@example.com', password: 'a long password' }

const servicePages: NonNullable<SettingsInput['servicePages']> = {
  '/account': ({ user, csrfToken, language, status, request, html }) => `<!doctype html>
    <title>Mine</title><h1>Hello ${user?.email}</h1>
    <p>${language} ${status} ${new URL(request.url).pathname} ${html.includes('<main')}</p>
    <form method="post" action="/account/language">
      <input type="hidden" name="csrf_token" value="${csrfToken}"><input name="language" value="de"><button>Save</button>
    </form>`,
  '/login': async ({ main, status }) =>
    `<!doctype html><title>Mine</title><body class="s${status}">${main}`,
  '/account/sessions': () => {
    throw new Error('broken on purpose')
  },
}

describe('the setting servicePages', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ settings: { servicePages } })
    await service.browser().post('/register', { ...ACCOUNT, name: 'Ada' })
  })
  afterAll(() => service?.stop())

  async function signedIn() {
    const browser = service.browser()
    await browser.signIn(ACCOUNT.email, ACCOUNT.password)
    return browser
  }

  it('replaces a page by the result of its function, and keeps the content security policy', async () => {
    const browser = await signedIn()
    const response = await browser.get('/account', { 'accept-language': 'de' })
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(html).toContain('Hello ada@example.com')
    expect(html).toContain('de 200 /account true')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('keeps the redirect of a page that needs a sign-in', async () => {
    const response = await service.browser().get('/account')
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      expect.stringContaining('/login'),
    ])
  })

  it('shows the content of a page inside of a replacement, with the mistake in a form', async () => {
    const browser = service.browser()
    const shown = await browser.get('/login')
    expect(await shown.text()).toMatch(/class="s200">[\s\S]*name="password"/)
    const refused = await browser.post('/login', { ...ACCOUNT, password: 'a wrong password' })
    expect(refused.status).toBe(401)
    expect(await refused.text()).toMatch(/class="s401">[\s\S]*name="password"/)
    expect((await browser.signIn(ACCOUNT.email, ACCOUNT.password)).status).toBe(303)
  })

  it('gives a replacement the token with which its form is accepted', async () => {
    const browser = await signedIn()
    const html = await (await browser.get('/account')).text()
    const [, token = ''] = /name="csrf_token" value="([^"]+)"/.exec(html) ?? []
    const saved = await browser.post('/account/language', { csrf_token: token, language: 'de' })
    expect(saved.status).toBe(303)
    expect(
      (await browser.post('/account/language', { csrf_token: 'x', language: 'de' })).status,
    ).toBe(403)
  })

  it('shows the page of the service if the function fails, and logs the error', async () => {
    const browser = await signedIn()
    const response = await browser.get('/account/sessions')
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('<main'),
    ])
    expect(service.log()).toContain('broken on purpose')
  })
})

describe('a wrong path in the setting servicePages', () => {
  it.each([
    ['/acount', /servicePages: the service has no page \/acount .*\/account/],
    ['/admin', /servicePages: the service has no page \/admin /],
    ['/oauth/authorize', /servicePages: the service has no page \/oauth\/authorize /],
  ])('is refused at start: %s', async (path, message) => {
    const start = startTestService({ settings: { servicePages: { [path]: () => '' } } })
    await expect(start).rejects.toThrow(message)
    await expect(start).rejects.toThrow(ConfigurationError)
  })

  it('is refused at start if its value is no function', async () => {
    const settings = { servicePages: { '/account': 'mine' } } as unknown as SettingsInput
    await expect(startTestService({ settings })).rejects.toThrow(
      /servicePages: expected an object of functions/,
    )
  })
})
