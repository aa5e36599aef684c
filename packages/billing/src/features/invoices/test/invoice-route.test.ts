import { afterEach, describe, expect, it } from 'vitest'
import { BASE_URL, type FlowTest, PROVIDERS, start } from '../../../../test/support.ts'
import type { BillableUser, BillingOptions } from '../../../index.ts'

const invoice = { vendor: 'Tollgate Ltd', product: 'Gold' }
const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8'

let test: FlowTest
afterEach(() => test?.sandbox.trouble.clear())

/** Opens the URL of an invoice in a browser. */
async function open(
  id: string,
  who: BillableUser | null,
  { accept = BROWSER, ...options }: Partial<BillingOptions> & { accept?: string } = {},
) {
  const billing = test.another({ authenticate: () => who?.id ?? null, invoice, ...options })
  return billing.fetch(new Request(`${BASE_URL}/user/invoice/${id}`, { headers: { accept } }))
}

const redirectOf = (response: Response) => {
  const url = new URL(response.headers.get('location') ?? '')
  return [response.status, url.pathname, Object.fromEntries(url.searchParams)]
}

describe.each(PROVIDERS)('the invoice route at $provider', ({ provider, card }) => {
  async function billed(): Promise<string> {
    test = await start(provider)
    await test.user.newSubscription('main', 'monthly').create(card)
    const [first] = await test.user.invoicesIncludingPending()
    return first?.id ?? ''
  }

  it("responds with the PDF to the invoice's owner, and with an error page on failure", async () => {
    const id = await billed()
    const eve = await test.createUser({ email: 'eve@example.com' })
    const cases = [
      { as: null, of: id, status: 401, text: 'Sign in' },
      { as: eve, of: id, status: 404, text: 'no such invoice' },
      { as: test.user, of: 'never_made', status: 404, text: 'no such invoice' },
    ]
    for (const { as, of, status, text } of cases) {
      const response = await open(of, as)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const html = await response.text()
      expect([response.status, html.includes(text), html.includes(of)]).toEqual([
        status,
        true,
        false,
      ])
    }
    expect((await open(id, test.user)).headers.get('content-type')).toBe('application/pdf')
  })

  it('redirects a browser to failedPath with return_to on failure', async () => {
    const id = await billed()
    const failedPath = '/account/returned'
    const eve = await test.createUser({ email: 'eve@example.com' })
    const back = { return_to: `/user/invoice/${id}` }
    expect(redirectOf(await open(id, null, { failedPath }))).toEqual([
      303,
      failedPath,
      { reason: 'unauthenticated', ...back },
    ])
    expect(redirectOf(await open(id, eve, { failedPath }))).toEqual([
      303,
      failedPath,
      { reason: 'invoice_not_found', ...back },
    ])
  })

  it('responds with a JSON error to a client that does not accept HTML', async () => {
    const id = await billed()
    for (const accept of ['application/json', '*/*', '']) {
      const response = await open(id, null, { accept, failedPath: '/account/returned' })
      expect([response.status, await response.json()]).toMatchObject([
        401,
        { error: 'unauthenticated' },
      ])
    }
  })

  it('responds with an error page while the provider is unavailable', async () => {
    const id = await billed()
    test.sandbox.trouble.failNext(20, 'half-written', provider)
    const response = await open(id, test.user)
    expect([response.status, (await response.text()).includes('try again')]).toEqual([503, true])
  })

  it('does not exist if the `invoice` option is not set', async () => {
    const id = await billed()
    const billing = test.another({ authenticate: () => test.user.id })
    const request = new Request(`${BASE_URL}/user/invoice/${id}`, {
      headers: { accept: BROWSER },
    })
    const response = await billing.fetch(request)
    expect([response.status, (await response.text()).includes('Not found')]).toEqual([404, true])
  })
})
