import { startSandbox } from '@tollgate/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFreePort } from '../../../test-support/free-port.ts'
import { startTestService, type TestService } from './support.ts'

/** The keys of an account, at providers that happen to be on this machine. */
const KEYS = { merchantId: 'shop', publicKey: 'public', privateKey: 'private' }

async function open() {
  const sandbox = await startSandbox({ stripe: true, braintree: KEYS })
  sandbox.stripe.seedPrice({ id: 'pro', unitAmount: 2500, interval: 'month' })
  sandbox.braintree.definePlan({ id: 'pro', name: 'Pro', price: 2500, billingFrequency: 1 })
  return sandbox
}

describe('billing with the keys of an account', () => {
  let sandbox: Awaited<ReturnType<typeof open>>
  let service: TestService
  beforeAll(async () => {
    sandbox = await open()
    const port = await findFreePort()
    service = await startTestService({
      environment: {
        PORT: String(port),
        TOLLGATE_URL: `http://localhost:${port}`,
        TOLLGATE_SECRET: 'a secret of more than thirty-two characters',
        STRIPE_SECRET: sandbox.stripe.apiKey,
        STRIPE_PUBLISHABLE_KEY: 'pk_test_public',
        STRIPE_WEBHOOK_SECRET: 'whsec_of_nobody',
        STRIPE_API_URL: sandbox.stripe.url,
        BRAINTREE_ENVIRONMENT: 'sandbox',
        BRAINTREE_MERCHANT_ID: KEYS.merchantId,
        BRAINTREE_PUBLIC_KEY: KEYS.publicKey,
        BRAINTREE_PRIVATE_KEY: KEYS.privateKey,
        BRAINTREE_API_URL: sandbox.braintree.url,
      },
    })
  })
  afterAll(async () => {
    await service?.stop()
    await sandbox?.close()
  })

  async function signIn(email: string) {
    const password = 'a long password'
    await service.users.create({ email, password })
    const browser = service.browser()
    await browser.signIn(email, password)
    return browser
  }

  it('lets the provider’s own script take the card, and nothing else in', async () => {
    const browser = await signIn('ada@example.com')
    const page = await browser.get('/billing')
    const html = await page.text()
    expect(html).toContain('data-card-entry="stripe" data-key="pk_test_public"')
    expect(html).toContain('<script src="https://js.stripe.com/v3/" defer')
    expect(html).not.toMatch(/in the sandbox|Test card|pm_card/)
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self' https://js.stripe.com https://*.js.stripe.com; img-src 'self'; connect-src 'self' https://api.stripe.com; frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com; form-action 'self' https://checkout.stripe.com https://billing.stripe.com; frame-ancestors 'none'; base-uri 'none'",
    )
    const other = await browser.get('/billing?provider=braintree')
    expect(await other.text()).toContain('data-card-entry="braintree"')
    const policy = other.headers.get('content-security-policy') ?? ''
    expect(policy).not.toContain('stripe')
    expect(policy).toContain("script-src 'self' https://js.braintreegateway.com")
    expect(policy).not.toContain("style-src 'self' 'unsafe-inline'")
    const first = (await browser.get('/')).headers.get('content-security-policy')
    expect(first).not.toMatch(/stripe|braintree/)
  })

  it('subscribes with the token the script has got', async () => {
    const browser = await signIn('grace@example.com')
    const csrf_token = await browser.csrfToken()
    const form = { csrf_token, plan: 'pro', provider: 'stripe', coupon: '' }
    const without = await browser.post('/billing/subscribe', { ...form, token: '' })
    expect(without.status).toBe(422)
    expect(await without.text()).toContain('Please enter a card.')
    const done = await browser.post('/billing/subscribe', { ...form, token: 'pm_card_visa' })
    expect(done.headers.get('location')).toBe('/billing?done=subscribed')
    const { body } = await browser.api('/api/subscription')
    expect(body).toMatchObject({ subscribed: true, card: { last_four: '4242' } })
  })

  it('gives Braintree’s script the token it needs', async () => {
    const browser = await signIn('edith@example.com')
    const { status, body } = await browser.api('/api/billing/client-token', { method: 'POST' })
    expect(status).toBe(200)
    expect(body.client_token.length).toBeGreaterThan(20)
  })

  it('has no clock to move', async () => {
    const browser = await signIn('radia@example.com')
    const csrf_token = await browser.csrfToken()
    for (const path of ['/sandbox/clock', '/sandbox/decline']) {
      const answer = await browser.post(path, { csrf_token, to: '2030-01-01T00:00:00Z' })
      expect(answer.status).toBe(404)
    }
  })

  it('shows the page without what the provider does not tell', async () => {
    const browser = await signIn('mary@example.com')
    const csrf_token = await browser.csrfToken()
    const form = { csrf_token, plan: 'pro', provider: 'braintree', token: 'fake-valid-nonce' }
    expect((await browser.post('/billing/subscribe', form)).status).toBe(303)
    sandbox.trouble.failNext(20, '500', 'braintree')
    const page = await browser.get('/billing')
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('The payment provider does not answer.')
    const refused = await browser.post('/billing/cancel', { csrf_token })
    expect(refused.status).toBe(503)
    expect(await refused.text()).toContain('The payment provider did not answer.')
    sandbox.trouble.clear()
    expect((await browser.post('/billing/cancel', { csrf_token })).status).toBe(303)
  })
})
