import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

interface Line {
  readonly level: string
  readonly msg: string
  readonly path?: string
  readonly request_id?: string
  readonly job?: string
  readonly entry?: string
  readonly provider?: string
  readonly operation?: string
  readonly status?: number
  readonly provider_request_id?: string
}

describe('the log of the service', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      settings: {
        pages: {
          error: () => {
            throw new Error('The page is broken')
          },
        },
      },
    })
  })
  afterAll(() => service.stop())

  const lines = (msg: string): Line[] =>
    service
      .log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line.msg === msg)

  async function signIn() {
    const { email = '', password = '' } = service.demo ?? {}
    const browser = service.browser()
    await browser.signIn(email, password)
    return browser
  }

  it('has a line for each request to a provider, with the id of the HTTP request that caused it', async () => {
    const browser = await signIn()
    const user = await service.billing.user(
      Number((await service.users.findByEmail(service.demo?.email ?? ''))?.id),
    )
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const pages = await Promise.all([browser.get('/billing'), browser.get('/billing')])
    const ids = pages.map((page) => page.headers.get('x-request-id'))
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) {
      const found = lines('provider request').filter((line) => line.request_id === id)
      expect(found).toContainEqual(
        expect.objectContaining({
          level: 'info',
          provider: 'stripe',
          operation: 'GET /v1/invoices',
          status: 200,
          provider_request_id: expect.stringMatching(/^req_\w+$/),
        }),
      )
    }
    // Those of the test itself belong to no HTTP request.
    const made = lines('provider request').find(
      ({ operation }) => operation === 'POST /v1/subscriptions',
    )
    expect(made).toBeDefined()
    expect(made?.request_id).toBeUndefined()
  })

  it('has a line for each request to Braintree, too, whose SDK tells no status and no id of its own', async () => {
    const password = 'a long password'
    const { id } = await service.users.create({ email: 'ada@example.com', password })
    await (await service.billing.user(Number(id))).chooseProvider('braintree')
    const browser = service.browser()
    await browser.signIn('ada@example.com', password)
    const csrf_token = await browser.csrfToken()
    const form = { csrf_token, plan: 'pro', provider: 'braintree', token: 'fake-valid-visa-nonce' }
    const paid = await browser.post('/billing/subscribe', form)
    expect(paid.headers.get('location')).toBe('/billing?done=subscribed')
    const page = await browser.get('/billing')
    const ofRequest = (response: Response) =>
      lines('provider request').filter(
        (line) => line.request_id === response.headers.get('x-request-id'),
      )
    expect(ofRequest(paid)).toContainEqual(
      expect.objectContaining({
        level: 'info',
        provider: 'braintree',
        operation: 'POST /subscriptions',
        ms: expect.any(Number),
      }),
    )
    expect(ofRequest(page).length).toBeGreaterThan(0)
    for (const line of [...ofRequest(paid), ...ofRequest(page)]) {
      expect(line.provider).toBe('braintree')
      expect(line).not.toHaveProperty('status')
      expect(line).not.toHaveProperty('provider_request_id')
    }
    expect(service.log()).not.toContain('fake-valid-visa-nonce')
  })

  it('names the webhook instead of a request in the lines of its handling', async () => {
    await service.advance({ months: 1 })
    const handling = lines('provider request').filter(({ job }) => job === 'webhook')
    expect(handling.map(({ entry }) => entry)).toContainEqual(
      expect.stringMatching(/^invoice\.paid \(evt_\w+\)$/),
    )
    for (const line of handling) expect(line.request_id).toBeUndefined()
  })

  it('has the id of the request in the line of an error that a library logs', async () => {
    const response = await fetch(`${service.url}/oauth/authorize?client_id=none`, {
      headers: { accept: 'text/html' },
    })
    const id = response.headers.get('x-request-id')
    const errors = service
      .log()
      .split('\n')
      .filter((line) => line.includes('The page is broken'))
    expect(errors.length).toBeGreaterThan(0)
    for (const line of errors) expect(JSON.parse(line).request_id).toBe(id)
  })
})
