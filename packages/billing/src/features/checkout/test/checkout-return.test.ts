import { describe, expect, it } from 'vitest'
import { BASE_URL, type FlowTest, start } from '../../../../test/support.ts'
import type { BillableUser, BillingOptions } from '../../../index.ts'

const PAGE = { name: 'main', successPath: '/billing/done' }
const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8'

/** A page that the user has completed. */
async function paid(): Promise<{ readonly test: FlowTest; readonly id: string }> {
  const test = await start('stripe', { webhooks: false })
  const { id } = await test.user.checkout('monthly', PAGE)
  test.sandbox.stripe.completeCheckout(id)
  return { test, id }
}

/** Requests the return route, as a browser redirected by the provider does. */
async function comeBack(
  test: FlowTest,
  who: BillableUser | null,
  { accept, id, ...options }: Partial<BillingOptions> & { accept?: string; id: string },
) {
  const billing = test.another({ authenticate: () => who?.id ?? null, ...options })
  const address = `${BASE_URL}/billing/checkout/return?session_id=${encodeURIComponent(id)}`
  return billing.fetch(new Request(address, accept === undefined ? {} : { headers: { accept } }))
}

describe('a browser that returns from a hosted page', () => {
  it('is redirected to failedPath with return_to if the user is signed out', async () => {
    const { test, id } = await paid()
    const to = { id, accept: BROWSER, failedPath: '/account/returned?from=stripe' }
    const response = await comeBack(test, null, to)
    expect([response.status, response.headers.get('cache-control')]).toEqual([303, 'no-store'])
    const url = new URL(response.headers.get('location') ?? '')
    expect([url.origin, url.pathname]).toEqual([BASE_URL, '/account/returned'])
    const back = `/billing/checkout/return?session_id=${id}`
    expect(Object.fromEntries(url.searchParams)).toEqual({
      from: 'stripe',
      reason: 'unauthenticated',
      return_to: back,
    })
    // After signing in, return_to completes the checkout.
    const again = await comeBack(test, test.user, to)
    expect(again.headers.get('location')).toBe(`${BASE_URL}/billing/done`)
    expect(await test.user.subscribed('main')).toBe(true)
  })

  it('is redirected to failedPath if another user is signed in, and nothing changes', async () => {
    const { test, id } = await paid()
    const eve = await test.createUser({ email: 'eve@example.com' })
    const to = { id, accept: BROWSER, failedPath: '/returned' }
    const url = new URL((await comeBack(test, eve, to)).headers.get('location') ?? '')
    expect(url.searchParams.get('reason')).toBe('checkout_not_found')
    expect(await test.user.subscribed('main')).toBe(false)
    const never = new URL(
      (await comeBack(test, eve, { ...to, id: 'cs_test_none' })).headers.get('location') ?? '',
    )
    expect(never.searchParams.get('reason')).toBe('checkout_not_found')
  })

  it('is redirected to failedPath without return_to if the page’s id is invalid', async () => {
    const { test } = await paid()
    const to = { accept: BROWSER, failedPath: '/returned' }
    for (const id of ['', '"><script>', '//evil.example.com', 'x'.repeat(300)]) {
      const response = await comeBack(test, null, { ...to, id })
      expect(response.headers.get('location')).toBe(`${BASE_URL}/returned?reason=unauthenticated`)
    }
  })

  it('is redirected to failedPath when the provider does not respond', async () => {
    const { test, id } = await paid()
    test.sandbox.trouble.failNext(2, 'half-written', 'stripe')
    const to = { id, accept: BROWSER, failedPath: '/returned', ...hastyOptions(test) }
    const url = new URL((await comeBack(test, test.user, to)).headers.get('location') ?? '')
    expect(url.searchParams.get('reason')).toBe('unavailable')
    test.sandbox.trouble.clear()
  })

  it('gets a 503 with a Retry-After header when the provider does not respond and there is no failedPath', async () => {
    const { test, id } = await paid()
    test.sandbox.trouble.failNext(2, 'half-written', 'stripe')
    const response = await comeBack(test, test.user, { id, accept: BROWSER, ...hastyOptions(test) })
    expect([response.status, response.headers.get('retry-after')]).toEqual([
      503,
      expect.any(String),
    ])
    test.sandbox.trouble.clear()
  })

  it.each([
    ['a signed-out visitor', 401, 'Sign in'],
    ['another user', 404, 'another account'],
  ] as const)(
    'shows a notice page if there is no failedPath and the visitor is %s',
    async (who, status, text) => {
      const { test, id } = await paid()
      const eve = await test.createUser({ email: 'eve@example.com' })
      const response = await comeBack(test, who === 'a signed-out visitor' ? null : eve, {
        id,
        accept: BROWSER,
      })
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      // The URL contains the page's id.
      expect(response.headers.get('referrer-policy')).toBe('no-referrer')
      const html = await response.text()
      expect(html).toContain(text)
      expect(html).not.toContain(id)
    },
  )

  it.each([undefined, 'application/json', '*/*'])(
    'gets a JSON error if its Accept header is %j',
    async (accept) => {
      const { test, id } = await paid()
      const asked = { id, failedPath: '/returned', ...(accept ? { accept } : {}) }
      const response = await comeBack(test, null, asked)
      expect([response.status, await response.json()]).toMatchObject([
        401,
        { error: 'unauthenticated' },
      ])
    },
  )

  it.each(['https://evil.example.com', '//evil.example.com', '/\\evil', 'returned', '', ' /x'])(
    'can never be redirected to the failedPath %j, because createBilling() rejects it',
    async (failedPath) => {
      const test = await start('stripe')
      expect(() => test.another({ failedPath })).toThrow(TypeError)
    },
  )
})

/** Stripe options without retries, so that a failed call throws immediately. */
function hastyOptions({ sandbox }: FlowTest): Pick<BillingOptions, 'stripe'> {
  const { apiKey: secret, config } = sandbox.stripe
  return {
    stripe: { secret, webhookSecret: 'whsec_x', config: { ...config, maxNetworkRetries: 0 } },
  }
}
