import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service?.stop())

let people = 0

async function newPerson() {
  const browser = service.browser()
  const email = `person-${++people}@example.com`
  const password = 'a long password'
  await service.users.create({ email, password, name: 'Ada' })
  expect((await browser.signIn(email, password)).status).toBe(303)
  return {
    browser,
    async post(path: string, fields: Record<string, string> = {}) {
      const csrf_token = await browser.csrfToken()
      const response = await browser.post(path, { csrf_token, ...fields })
      return { status: response.status, location: response.headers.get('location') ?? '' }
    },
    async get(path: string) {
      const response = await browser.get(path)
      return { status: response.status, location: response.headers.get('location') ?? '' }
    },
  }
}

/** Completes the payment on the provider's page. Returns the path that the customer is sent to. */
async function payAt(page: string): Promise<string> {
  const body = new URLSearchParams({ card: 'pm_card_visa' })
  const response = await fetch(page, { method: 'POST', body, redirect: 'manual' })
  const back = new URL(response.headers.get('location') ?? '')
  expect(back.origin).toBe(new URL(service.url).origin)
  return `${back.pathname}${back.search}`
}

describe("Stripe's hosted pages", () => {
  it('let a person subscribe to the chosen plan, who then returns to the service', async () => {
    const ada = await newPerson()
    const sent = await ada.post('/billing/checkout', { plan: 'pro', provider: 'stripe' })
    expect(sent.status).toBe(303)
    expect(new URL(sent.location).pathname).toMatch(/^\/pages\/checkout\/cs_test_/)
    const back = await payAt(sent.location)

    const program = { headers: { accept: 'application/json' } }
    expect((await fetch(new URL(back, service.url), program)).status).toBe(401)
    expect(await ada.get(back)).toEqual({
      status: 303,
      location: `${service.url}/billing?done=subscribed`,
    })
    const html = await (await ada.browser.get('/billing?done=subscribed')).text()
    expect(html).toContain('You are subscribed.')
    const again = await ada.post('/billing/checkout', { plan: 'pro', provider: 'stripe' })
    expect(again.status).toBe(409)
  })

  it('lead back to the service after a sign-out, and tell another person that the checkout belongs to another account', async () => {
    const ada = await newPerson()
    const sent = await ada.post('/billing/checkout', { plan: 'pro', provider: 'stripe' })
    const back = await payAt(sent.location)
    const go = async (browser: typeof ada.browser, path: string) => {
      const response = await browser.get(path)
      const location = response.headers.get('location')
      const next = location && new URL(location, service.url)
      const html = await response.text()
      return { status: response.status, next: next ? `${next.pathname}${next.search}` : '', html }
    }
    const stranger = service.browser()
    const returned = await go(stranger, back)
    expect([returned.status, returned.next.split('?')[0]]).toEqual([303, '/billing/returned'])
    const signIn = await go(stranger, returned.next)
    expect(signIn.next).toBe(`/login?return_to=${encodeURIComponent(back)}`)
    // Another person reads this, and nothing changes for them.
    const eve = await newPerson()
    const refused = await go(eve.browser, (await go(eve.browser, back)).next)
    expect([refused.status, refused.html.includes('Use another account')]).toEqual([404, true])
    expect((await go(ada.browser, back)).next).toBe('/billing?done=subscribed')
    // The person has signed in meanwhile, in another tab.
    expect((await go(ada.browser, returned.next)).next).toBe(back)
    expect((await go(ada.browser, '/billing/returned?reason=not_found')).status).toBe(404)
  })

  it('are the only other origin that the content security policy allows forms to redirect to', async () => {
    const ada = await newPerson()
    const page = await ada.browser.get('/billing')
    const policy = page.headers.get('content-security-policy') ?? ''
    const { location } = await ada.post('/billing/checkout', { plan: 'pro', provider: 'stripe' })
    const targets = /form-action ([^;]*)/.exec(policy)?.[1]?.split(' ')
    expect(targets).toEqual(["'self'", new URL(location).origin])
  })

  it('include the customer portal, only for people who are customers', async () => {
    const ada = await newPerson()
    expect((await ada.post('/billing/portal')).status).toBe(422)
    const card = { plan: 'pro', provider: 'stripe', token: 'pm_card_visa' }
    await ada.post('/billing/subscribe', card)
    const { status, location } = await ada.post('/billing/portal')
    expect(status).toBe(303)
    expect(await (await fetch(location)).text()).toContain('/billing')
  })

  it('are not offered to people who pay through Braintree', async () => {
    const ada = await newPerson()
    const page = await (await ada.browser.get('/billing?provider=braintree')).text()
    expect(page).not.toContain('/billing/checkout')
    const refused = await ada.post('/billing/checkout', { plan: 'pro', provider: 'braintree' })
    expect(refused.status).toBe(422)
  })

  it('can be opened only by submitting a form with a CSRF token', async () => {
    const ada = await newPerson()
    const forged = await ada.browser.post('/billing/checkout', { plan: 'pro', provider: 'stripe' })
    expect(forged.status).toBe(403)
  })
})
