import { startSandbox } from '@tollgate/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFreePort } from '../../../test-support/free-port.ts'
import { startTestService, type TestService } from './support.ts'

/** API keys for providers that run on this machine. */
const KEYS = { merchantId: 'shop', publicKey: 'public', privateKey: 'private' }

async function open() {
  const sandbox = await startSandbox({ stripe: true, braintree: KEYS })
  sandbox.stripe.seedPrice({ id: 'pro', unitAmount: 2500, interval: 'month' })
  sandbox.braintree.definePlan({ id: 'pro', name: 'Pro', price: 2500, billingFrequency: 1 })
  return sandbox
}

describe('the billing page with production keys', () => {
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

  it("allows the provider's own script, and nothing else, on the page", async () => {
    const browser = await signIn('ada@example.com')
    const page = await browser.get('/billing')
    const html = await page.text()
    expect(html).toContain('data-card-entry="stripe" data-key="pk_test_public"')
    expect(html).toContain('<script src="https://js.stripe.com/v3/" defer')
    expect(html).not.toMatch(/in the sandbox|Test card|pm_card/)
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self' https://js.stripe.com https://*.js.stripe.com; img-src 'self'; connect-src 'self' https://api.stripe.com; frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com; form-action 'self' https://checkout.stripe.com https://billing.stripe.com; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin')
    const first = (await browser.get('/')).headers.get('content-security-policy')
    expect(first).not.toMatch(/stripe|braintree/)
  })

  it("loads Braintree's scripts from the host of a custom API URL", async () => {
    const browser = await signIn('barbara@example.com')
    const page = await browser.get('/billing?provider=braintree')
    const { url } = sandbox.braintree
    const html = await page.text()
    const scripts = [...html.matchAll(/<script src="(\S+)"/g)].map(([, address]) => address)
    const files = ['client', 'hosted-fields', 'three-d-secure', 'paypal-checkout']
    expect(scripts).toEqual(files.map((file) => `${url}/web/3.144.0/js/${file}.min.js`))
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).not.toMatch(/stripe|braintreegateway|https:/)
    expect(policy).toContain(`frame-src ${url}`)
    expect(policy).toContain("form-action 'self';")
  })

  it("creates the subscription with the token from the provider's script", async () => {
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

  it("passes a client token to Braintree's script", async () => {
    const browser = await signIn('edith@example.com')
    const { status, body } = await browser.api('/api/billing/client-token', { method: 'POST' })
    expect(status).toBe(200)
    expect(body.client_token.length).toBeGreaterThan(20)
  })

  it('shows no button to advance a sandbox clock', async () => {
    const browser = await signIn('radia@example.com')
    const csrf_token = await browser.csrfToken()
    for (const path of ['/sandbox/clock', '/sandbox/decline']) {
      const answer = await browser.post(path, { csrf_token, to: '2030-01-01T00:00:00Z' })
      expect(answer.status).toBe(404)
    }
  })

  it("still works, without the provider's data, if a provider is unavailable", async () => {
    const browser = await signIn('mary@example.com')
    const csrf_token = await browser.csrfToken()
    const form = { csrf_token, plan: 'pro', provider: 'braintree', token: 'fake-valid-nonce' }
    expect((await browser.post('/billing/subscribe', form)).status).toBe(303)
    sandbox.trouble.failNext(20, '500', 'braintree')
    const page = await browser.get('/billing')
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('The payment provider does not respond.')
    const refused = await browser.post('/billing/cancel', { csrf_token })
    expect(refused.status).toBe(503)
    expect(await refused.text()).toContain('The payment provider did not answer.')
    sandbox.trouble.clear()
    expect((await browser.post('/billing/cancel', { csrf_token })).status).toBe(303)
  })
})

describe("the content security policy of a page with Braintree's scripts", () => {
  it.each([
    ['sandbox', 'https://api.sandbox.braintreegateway.com', 'songbirdstag'],
    ['production', 'https://api.braintreegateway.com', 'songbird'],
  ])(
    "allows Braintree's origins (%s), elements of PayPal by a nonce, and no other inline code",
    async (environment, api, songbird) => {
      const port = await findFreePort()
      const service = await startTestService({
        environment: {
          PORT: String(port),
          TOLLGATE_URL: `http://localhost:${port}`,
          TOLLGATE_SECRET: 'a secret of more than thirty-two characters',
          BRAINTREE_ENVIRONMENT: environment,
          BRAINTREE_MERCHANT_ID: KEYS.merchantId,
          BRAINTREE_PUBLIC_KEY: KEYS.publicKey,
          BRAINTREE_PRIVATE_KEY: KEYS.privateKey,
        },
      })
      try {
        await service.users.create({ email: 'ada@example.com', password: 'a long password' })
        const browser = service.browser()
        await browser.signIn('ada@example.com', 'a long password')
        const page = await browser.get('/billing')
        const html = await page.text()
        const [, nonce = ''] =
          /<script src="https:\/\/js\.braintreegateway\.com\/web\/3\.144\.0\/js\/client\.min\.js" nonce="([\w-]{22})"/.exec(
            html,
          ) ?? []
        const again = await (await browser.get('/billing')).text()
        expect([nonce, again.includes(nonce)]).toEqual([expect.stringMatching(/./), false])
        const paypal = 'https://*.paypal.com https://*.paypalobjects.com'
        const cardinal = `https://${songbird}.cardinalcommerce.com https://${environment === 'production' ? '' : 'cas.'}static.client.cardinaltrusted.com`
        const analytics = api.replace('api.', 'client-analytics.')
        expect(page.headers.get('content-security-policy')).toBe(
          [
            "default-src 'none'",
            `style-src 'self' 'nonce-${nonce}'`,
            `script-src 'self' https://js.braintreegateway.com https://assets.braintreegateway.com ${cardinal} ${paypal} 'nonce-${nonce}'`,
            `img-src 'self' https://assets.braintreegateway.com ${paypal} data:`,
            `connect-src 'self' ${api} ${analytics} https://*.braintree-api.com https://*.cardinalcommerce.com https://*.cardinaltrusted.com ${paypal}`,
            "style-src-attr 'unsafe-inline'",
            'frame-src https:',
            "form-action 'self' https:",
            "frame-ancestors 'none'",
            "base-uri 'none'",
          ].join('; '),
        )
        // PayPal's window cannot communicate with an isolated page. All other pages are isolated.
        expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin-allow-popups')
        const other = await browser.get('/tokens')
        expect(other.headers.get('cross-origin-opener-policy')).toBe('same-origin')
        expect(other.headers.get('content-security-policy')).not.toMatch(/braintree|paypal|https:/)
      } finally {
        await service.stop()
      }
    },
  )
})
