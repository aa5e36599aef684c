import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

describe("the language of the service's pages", () => {
  let service: TestService
  let browser: ReturnType<TestService['browser']>
  beforeAll(async () => {
    service = await startTestService()
    browser = service.browser()
    await browser.signIn(service.demo?.email ?? '', service.demo?.password ?? '')
  })
  afterAll(() => service.stop())

  const show = async (path: string, languages: string) => {
    const headers = { accept: 'text/html', 'accept-language': languages }
    return (await fetch(`${service.url}${path}`, { headers })).text()
  }

  it.each([
    ['/login', 'Anmelden'],
    ['/login?return_to=%2Foauth%2Fdevice', 'um ein Gerät zu verbinden'],
    ['/register', 'Registrieren'],
    ['/nothing-here', 'Unter dieser Adresse gibt es keine Seite.'],
    ['/oauth/authorize?client_id=nobody', 'Diese Anfrage kann nicht abgeschlossen werden'],
    ['/oauth/logout', 'Sie sind abgemeldet'],
  ])('is German on %s in a German browser', async (path, text) => {
    const html = await show(path, 'de-AT,de;q=0.9,en;q=0.8')
    expect(html).toContain('<html lang="de">')
    expect(html).toContain(text)
  })

  it.each([
    ['/', 'Willkommen'],
    ['/clients', 'Neuer Client'],
    ['/tokens', 'Persönliche Zugriffstokens'],
    ['/applications', 'Berechtigte Anwendungen'],
    ['/account', 'Passwort ändern'],
    ['/billing', 'Tarif wählen'],
    ['/account/sessions', 'Wo Sie angemeldet sind'],
    ['/oauth/device', 'Gerät verbinden'],
  ])('is German on %s for ui_locales=de', async (path, text) => {
    const html = await (await browser.get(`${path}?ui_locales=de`)).text()
    expect(html).toContain('<html lang="de">')
    expect(html).toContain(text)
    expect(await (await browser.get(path)).text()).toContain('<html lang="en">')
  })

  it('is the language stored with the account on every page, unless ui_locales names another', async () => {
    const save = async (locale: string) => {
      const csrf_token = await browser.csrfToken()
      return browser.post('/account/language', { csrf_token, locale })
    }
    const isGerman = async (path: string) => {
      const html = await (await browser.get(path)).text()
      return html.includes('<html lang="de">')
    }
    const saved = await save('de')
    expect([saved.status, saved.headers.get('location')]).toEqual([303, '/account?saved'])
    expect(await (await browser.get('/account?saved')).text()).toContain('wurde gespeichert')
    expect(await isGerman('/billing')).toBe(true)
    expect(await isGerman('/oauth/device')).toBe(true)
    expect(await isGerman('/billing?ui_locales=en')).toBe(false)
    expect(await isGerman('/oauth/device?ui_locales=en')).toBe(false)
    const stranger = await service.browser().get('/login')
    expect(await stranger.text()).toContain('<html lang="en">')
    // What is not offered counts as the browser's.
    await save('<script>')
    expect(await isGerman('/billing')).toBe(false)
  })

  it.each([
    ['/admin', 'Ausgestellte Tokens'],
    ['/callback?code=abc', 'Eine fremde Anwendung'],
  ])('is German on the pages for operators and of the demo: %s', async (path, text) => {
    const html = await (
      await browser.get(`${path}${path.includes('?') ? '&' : '?'}ui_locales=de`)
    ).text()
    expect(html).toContain('<html lang="de">')
    expect(html).toContain(text)
  })

  it('stays German when a form has an error', async () => {
    const stranger = service.browser()
    const html = await (await stranger.get('/login?ui_locales=de')).text()
    expect(html).toContain('action="/login?ui_locales=de"')
    const wrong = await stranger.post('/login?ui_locales=de', {
      email: 'ada@example.com',
      password: 'wrong',
    })
    expect(await wrong.text()).toContain('Die E-Mail-Adresse oder das Passwort ist falsch.')
  })

  it('determines the format of dates', async () => {
    const german = await (await browser.get('/account/sessions?ui_locales=de')).text()
    expect(german).toMatch(/\d{2}\.\d{2}\.\d{4}, \d{2}:\d{2} UTC/)
    const english = await (await browser.get('/account/sessions')).text()
    expect(english).toMatch(/\d{1,2} \w{3} \d{4}, \d{2}:\d{2} UTC/)
  })

  it.each<[string, string?]>([
    ['fr'],
    ['*'],
    [';;q=,'],
    ['3000 times de', `${'de,'.repeat(3000)}de`],
    ['<script>'],
  ])('is English for the Accept-Language header %s', async (header, languages = header) => {
    const html = await show('/login', languages)
    expect(html).toContain('<html lang="en">')
    expect(html).toContain('Sign in')
  })
})
