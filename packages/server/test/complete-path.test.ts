import { AlreadySubscribed } from '@tollgate/billing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

describe('the service, from the first visit to a paid invoice', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service.stop())

  it('reports at /healthz and /readyz that it is ready', async () => {
    const response = await fetch(`${service.url}/healthz`)
    expect(response.status).toBe(200)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  })

  it('sends a person who is not signed in to the sign-in page, and back afterwards', async () => {
    const browser = service.browser()
    const home = await browser.get('/')
    expect(home.status).toBe(302)
    expect(home.headers.get('location')).toBe('/login?return_to=%2F')
    const page = await browser.get('/login')
    expect(await page.text()).toContain('name="password"')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  it('signs the demo user in, calls the API in cookie mode, and signs out everywhere', async () => {
    const { email = '', password = '' } = service.demo ?? {}
    const browser = service.browser()
    expect((await browser.signIn(email, 'wrong')).status).toBe(401)
    const signedIn = await browser.signIn(email, password)
    expect(signedIn.status).toBe(303)
    expect(signedIn.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/)
    const { status, body } = await browser.api('/api/user')
    expect(status).toBe(200)
    expect(body).toMatchObject({ email, name: 'Demo' })
    expect((await browser.api('/api/orders')).status).toBe(200)

    const stolen = new Map(browser.cookies)
    const csrf = await browser.csrfToken()
    expect((await browser.post('/logout', { csrf_token: csrf })).status).toBe(303)
    for (const [name, value] of stolen) browser.cookies.set(name, value)
    expect((await browser.get('/')).status).toBe(302)
    const api = await browser.request('/api/user', { headers: { 'x-csrf-token': csrf } })
    expect(api.status).toBe(401)
  })

  it('lets a person register, subscribe, pay after the trial and read the invoice', async () => {
    const browser = service.browser()
    const account = { email: 'ada@example.com', password: 'a long password', name: 'Ada' }
    expect((await browser.post('/register', account)).status).toBe(303)
    const user = await browser.api('/api/user')
    expect((await browser.api('/api/subscription')).body).toMatchObject({ subscribed: false })

    const billable = await service.billing.user(Number(user.body.id))
    await billable.newSubscription('main', 'monthly').trialDays(14).create('pm_card_visa')
    expect((await browser.api('/api/subscription')).body).toMatchObject({
      provider: 'stripe',
      subscribed: true,
      on_trial: true,
      subscription: { plan: 'monthly' },
      card: { brand: 'visa', last_four: '4242' },
    })
    await service.advance({ days: 15 })
    const { body } = await browser.api('/api/subscription')
    expect(body).toMatchObject({ subscribed: true, on_trial: false })
    const [invoice] = await (await service.billing.user(Number(user.body.id))).invoices()
    const pdf = await browser.get(`/user/invoice/${invoice?.id}`)
    expect(pdf.headers.get('content-type')).toBe('application/pdf')
  })

  it('lets a person pay at Braintree', async () => {
    const user = await service.users.create({ email: 'grace@example.com', password: 'long enough' })
    const billable = await service.billing.user(Number(user.id))
    await billable.chooseProvider('braintree')
    await billable.newSubscription('main', 'yearly').withCoupon('SPRING').create('fake-valid-nonce')
    await service.advance({ days: 1 })
    const [invoice] = await billable.invoices()
    expect(invoice?.total()).toBe('$98.00')
    await expect(billable.chooseProvider('stripe')).rejects.toThrow(AlreadySubscribed)
  })

  it('issues a token to the client whose credentials the demo prints, and accepts the token at its API', async () => {
    const { email = '', password = '', clients } = service.demo ?? {}
    const response = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: clients?.password?.id ?? '',
        client_secret: clients?.password?.secret ?? '',
        username: email,
        password,
        scope: 'place-orders check-status',
      }),
    })
    expect(response.status).toBe(200)
    const { access_token } = (await response.json()) as { access_token: string }
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await fetch(`${service.url}/api/orders`, { headers })).status).toBe(200)
    const bare = await fetch(`${service.url}/api/orders`)
    expect(bare.status).toBe(401)
  })

  it('serves the stylesheet with permanent caching, and no other file of that folder', async () => {
    const page = await (await service.browser().get('/login')).text()
    const href = /href="(\/assets\/style-[0-9a-f]{12}\.css)"/.exec(page)?.[1] ?? ''
    const style = await fetch(`${service.url}${href}`)
    expect(style.headers.get('cache-control')).toContain('immutable')
    expect((await fetch(`${service.url}/assets/../package.json`)).status).toBe(404)
    expect((await fetch(`${service.url}/assets/style.css`)).status).toBe(404)
  })
})
