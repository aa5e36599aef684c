import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service?.stop())
afterEach(() => service?.sandbox?.trouble.clear())

let people = 0

async function newPerson() {
  const browser = service.browser()
  const email = `person-${++people}@example.com`
  await service.users.create({ email, password: 'a long password', name: 'Ada' })
  await browser.signIn(email, 'a long password')
  return browser
}

async function customer(card = 'pm_card_visa') {
  const browser = await newPerson()
  const csrf_token = await browser.csrfToken()
  const form = { plan: 'pro', provider: 'stripe', token: card, csrf_token }
  await browser.post('/billing/subscribe', form)
  return browser
}

/** Follows redirects, as a browser does. */
async function open(browser: ReturnType<TestService['browser']>, path: string) {
  let response = await browser.get(path)
  let at = path
  for (let hops = 0; hops < 5 && response.status >= 300 && response.status < 400; hops++) {
    at = new URL(response.headers.get('location') ?? '', service.url).href
    response = await browser.get(at)
  }
  const { pathname } = new URL(at, service.url)
  const type = response.headers.get('content-type') ?? ''
  return { status: response.status, type: type.split(';')[0], at: pathname, response }
}

describe('a link to a page of the service', () => {
  it.each([
    '/user/invoice/in_1',
    '/billing/credit-note/cn_1',
    '/billing/checkout/return?session_id=cs_test_1',
    '/billing/confirm',
    '/billing/swap?plan=yearly',
    '/billing/cancel',
    '/billing',
  ])('requires a sign-in, and leads back to %s afterwards', async (path) => {
    const stranger = service.browser()
    const opened = await open(stranger, path)
    expect([opened.status, opened.type, opened.at]).toEqual([200, 'text/html', '/login'])
    expect(await opened.response.text()).toContain(path.replaceAll('&', '&amp;'))
  })

  it.each([
    ['/user/invoice/in_1', 'no such invoice'],
    ['/billing/credit-note/cn_1', 'no page at this address'],
    ['/billing/checkout/return?session_id=cs_test_1', 'no such payment page'],
  ])('leads to an error page if the object belongs to another person: %s', async (path, text) => {
    const browser = await newPerson()
    const opened = await open(browser, path)
    expect([opened.status, opened.type]).toEqual([404, 'text/html'])
    expect(await opened.response.text()).toContain(text)
  })

  it.each(['/user/invoice/in_1', '/billing/credit-note/cn_1', '/billing/swap?plan=yearly'])(
    'leads to an error page while the provider is unavailable: %s',
    async (path) => {
      const browser = await customer()
      service.sandbox?.trouble.failNext(100, 'half-written', 'stripe')
      const opened = await open(browser, path)
      expect([opened.status, opened.type]).toEqual([503, 'text/html'])
      expect(await opened.response.text()).toMatch(/provider (did not answer|could not be reached)/)
    },
  )

  it('leads to an error page at /billing/confirm while the provider is unavailable', async () => {
    const browser = await customer('pm_card_authenticationRequired')
    expect((await open(browser, '/billing/confirm')).at).toBe('/billing/confirm')
    service.sandbox?.trouble.failNext(100, 'half-written', 'stripe')
    const opened = await open(browser, '/billing/confirm')
    expect([opened.status, opened.type]).toEqual([503, 'text/html'])
    expect(await opened.response.text()).toContain('provider did not answer')
  })
})
