import { migrate } from '@tollgate/database'
import { movableClock } from '@tollgate/oauth/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { createStatistics } from '../src/statistics/statistics.ts'
import { serviceMigrations } from '../src/storage/migrations.ts'
import { startTestService, type TestService } from './support.ts'

const password = 'a long password'

async function signIn(service: TestService, email: string, secret = password) {
  const browser = service.browser()
  expect((await browser.signIn(email, secret)).status).toBe(303)
  return browser
}

async function operator(service: TestService) {
  return signIn(service, service.demo?.email ?? '', service.demo?.password ?? '')
}

/** The headline of each chart, by its title. */
async function headlines(browser: Awaited<ReturnType<typeof operator>>) {
  const html = await (await browser.get('/admin')).text()
  const found = html.matchAll(/-title">([^<]+)<\/h2><p class="headline">([^<]+)</g)
  return Object.fromEntries([...found].map(([, title, text]) => [title, text]))
}

describe("the operator's overview page", () => {
  let service: TestService
  beforeAll(async () => {
    const broken = () => {
      throw new Error('out of order, sk_test_notforyou')
    }
    service = await startTestService({ settings: { handlers: { handleCustomerCreated: broken } } })
  })
  afterAll(() => service?.stop())

  it('exists for operators only', async () => {
    const stranger = await service.browser().get('/admin')
    expect(stranger.headers.get('location')).toBe('/login?return_to=%2Fadmin')
    await service.users.create({ email: 'ada@example.com', password })
    const ada = await signIn(service, 'ada@example.com')
    const nowhere = await ada.get('/no-such-page')
    const refused = await ada.get('/admin')
    expect(refused.status).toBe(404)
    const withoutToken = (html: string) => html.replace(/(?:content|value)="[^"]{20,}"/g, '')
    expect(withoutToken(await refused.text())).toBe(withoutToken(await nowhere.text()))
    const csrf_token = await ada.csrfToken()
    const retry = '/admin/webhooks/received/1/retry'
    expect((await ada.post(retry, { csrf_token })).status).toBe(404)
    expect((await ada.get('/overview')).headers.get('location')).toBe('/admin')
    expect((await (await operator(service)).get('/admin')).status).toBe(200)
  })

  it('counts tokens, subscriptions, money, failures and webhooks', async () => {
    const browser = await operator(service)
    const before = await headlines(browser)
    expect(before).toMatchObject({
      'Tokens issued': '0 in 30 days',
      'Active subscriptions': '0 now',
      'Revenue in USD': '$0.00 in 30 days',
      'Failed charges': '0 in 30 days',
    })
    const { id: client_id = '', secret } = service.demo?.clients.service ?? {}
    for (let at = 0; at < 3; at++) {
      const body = { grant_type: 'client_credentials', client_id, client_secret: secret ?? '' }
      const init = { method: 'POST', body: new URLSearchParams(body) }
      expect((await fetch(`${service.url}/oauth/token`, init)).status).toBe(200)
    }
    const cards = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const
    for (const provider of ['stripe', 'braintree'] as const) {
      const user = await service.users.create({ email: `${provider}@example.com`, password })
      const billable = await service.billing.user(Number(user.id))
      await billable.chooseProvider(provider)
      await billable.newSubscription('main', 'pro').create(cards[provider])
      await service.advance({ hours: 1 })
      if (provider === 'stripe') {
        service.sandbox?.trouble.declineNextCharge(billable.providerId ?? '', 'insufficient_funds')
      }
    }
    const forged = { method: 'POST', body: '{}', headers: { 'stripe-signature': 't=1,v1=00' } }
    expect((await fetch(`${service.url}/stripe/webhook`, forged)).status).toBe(400)
    const first = await headlines(browser)
    expect(first).toMatchObject({
      'Tokens issued': '3 in 30 days',
      'Active subscriptions': '2 now',
      'Revenue in USD': '$50.00 in 30 days',
      Webhooks: expect.stringMatching(/^\d+ accepted, 1 refused$/),
    })
    // The sandbox delivers everything a second time: money must be counted once.
    for (const { id } of service.sandbox?.outbox.deliveries() ?? []) {
      await service.sandbox?.outbox.redeliver(id)
    }
    await service.advance({ hours: 1 })
    expect((await headlines(browser))['Revenue in USD']).toBe('$50.00 in 30 days')
    await service.advance({ days: 29 })
    // Stripe retries a declined card after three days. If the renewal came after 28 days, two more
    // days are too many.
    const hasRenewed = (await headlines(browser))['Failed charges'] === '1 in 30 days'
    await service.advance({ hours: hasRenewed ? 36 : 48 })
    // Braintree's renewal is paid, Stripe's was declined; the first payments were too long ago.
    expect(await headlines(browser)).toMatchObject({
      'Failed charges': '1 in 30 days',
      'Revenue in USD': '$25.00 in 30 days',
      'Active subscriptions': '2 now',
    })
  })

  it('shows every number of a chart in a table as well, without inline style or script', async () => {
    const html = await (await (await operator(service)).get('/admin')).text()
    const plots = html.match(/<svg /g) ?? []
    expect(plots.length).toBeGreaterThanOrEqual(5)
    expect(html.match(/<table /g)).toHaveLength(plots.length)
    expect(html.match(/<title id="/g)).toHaveLength(plots.length)
    expect(html).not.toMatch(/ style="|<style|<script(?! type="module" src="\/assets)/)
  })

  it("confirms that the sandbox's clock was advanced from there", async () => {
    const page = await (await (await operator(service)).get('/admin?done=clock-moved')).text()
    expect(page).toContain('<p class="note good" role="status">The sandbox’s clock was moved.</p>')
  })

  it('lists dead letters without their secrets, and retries them', async () => {
    for (let at = 0; at < 14; at++) await service.advance({ hours: 7 })
    const browser = await operator(service)
    const html = await (await browser.get('/admin')).text()
    expect(html).toMatch(/<strong><a [^>]+>customer\.created<\/a><\/strong> from Stripe/)
    expect(html).toContain('Error: out of order, [redacted]')
    const [, id = ''] = /action="\/admin\/webhooks\/received\/(\d+)\/retry"/.exec(html) ?? []
    const csrf_token = await browser.csrfToken()
    const page = `/admin/webhooks/received/${id}`
    const retried = await browser.post(`${page}/retry`, { csrf_token })
    expect(retried.headers.get('location')).toBe(`${page}?done=retried`)
    await service.billing.process()
    const waiting = await service.billing.webhooks.pending()
    expect(waiting).toMatchObject([{ id: Number(id), attempts: 1 }])
    for (const [wrong, status] of [
      [id, 409],
      ['999999', 404],
      ['0', 422],
      ['x', 422],
      ['-1', 422],
    ] as const) {
      const answer = await browser.post(`/admin/webhooks/received/${wrong}/retry`, { csrf_token })
      expect([wrong, answer.status]).toEqual([wrong, status])
    }
  })
})

describe('the statistics of the overview', () => {
  const logger = pino({ enabled: false })

  async function open() {
    const created = await createTestDatabase()
    await migrate(created.database, serviceMigrations)
    const clock = movableClock()
    const start = () =>
      createStatistics({ database: created.database, clock, billingClock: clock, logger })
    return { ...created, clock, start }
  }

  const issue = (statistics: ReturnType<typeof createStatistics>, times: number) => {
    let emit = () => {}
    statistics.follow({
      on(_name, listener) {
        emit = () => void listener({ tokenId: 't', userId: null, clientId: 'c' } as never)
        return () => {}
      },
    })
    for (let at = 0; at < times; at++) emit()
  }

  it('are added up over all processes and restarts', async () => {
    const { start, clock, drop } = await open()
    const [one, two] = [start(), start()]
    issue(one, 30)
    issue(two, 12)
    await Promise.all([one.close(), two.close()])
    const again = start()
    issue(again, 1)
    clock.advance({ days: 1 })
    issue(again, 5)
    const read = await again.read(30)
    expect(read.map(({ amount }) => amount).sort((a, b) => a - b)).toEqual([5, 43])
    expect(await again.read(1)).toMatchObject([{ amount: 5 }])
    await again.close()
    await drop()
  })

  it('count an event once, in its currency, even if its handler fails and it is delivered again', async () => {
    const { start, drop } = await open()
    const statistics = start()
    class Own {
      #calls = 0
      handleInvoicePaid() {
        this.#calls += 1
        if (this.#calls === 1) throw new Error('not today')
        return this.#calls
      }
    }
    const handlers = statistics.observe(new Own()) as Record<
      string,
      (event: unknown, context: object) => Promise<unknown>
    >
    const paid = (amount_paid: number, currency: string) => ({
      data: { object: { amount_paid, currency } },
    })
    const context = (eventId: string) => ({
      provider: 'stripe',
      eventId,
      runDefault: async () => {},
    })
    const pay = (id: string, amount: number, currency: string) =>
      handlers.handleInvoicePaid?.(paid(amount, currency), context(id))
    await expect(pay('evt_1', 1000, 'usd')).rejects.toThrow('not today')
    expect(await pay('evt_1', 1000, 'usd')).toBe(2)
    await Promise.all([1, 2, 3].map(() => pay('evt_2', 700, 'eur')))
    await pay('evt_3', 0, 'usd')
    const charged = {
      subscription: { transactions: [{ amount: '12.34', currencyIsoCode: 'EUR' }] },
    }
    await handlers.handleSubscriptionChargedSuccessfully?.(charged, {
      ...context('n'),
      provider: 'braintree',
    })
    const read = await statistics.read(30)
    expect(read.map(({ unit, amount }) => [unit, amount]).sort()).toEqual([
      ['eur', 1934],
      ['usd', 1000],
    ])
    expect(handlers.handleCustomerUpdated).toBeUndefined()
    await statistics.close()
    await drop()
  })

  it('are computed later for days that were missed', async () => {
    const { start, clock, drop } = await open()
    const statistics = start()
    const asked: Date[] = []
    statistics.sampleFrom({
      async countActive(at) {
        asked.push(at)
        return asked.length
      },
    })
    await statistics.sample()
    expect(asked).toHaveLength(30)
    expect(asked.at(-1)).toEqual(clock.now())
    clock.advance({ days: 3 })
    await statistics.sample()
    expect(asked).toHaveLength(34)
    await statistics.sample(60_000)
    expect(asked).toHaveLength(34)
    const amounts = (await statistics.read(4)).map(({ amount }) => amount)
    expect(amounts.sort((a, b) => a - b)).toEqual([31, 32, 33, 34])
    await statistics.close()
    await drop()
  })

  it('do not keep the ids of counted events forever', async () => {
    const { start, clock, database, drop } = await open()
    const statistics = start()
    const handlers = statistics.observe({}) as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >
    const context = { provider: 'stripe', eventId: 'evt', runDefault: async () => {} }
    await handlers.handleInvoicePaymentFailed?.({}, context)
    expect(await statistics.purge()).toBe(0)
    clock.advance({ days: 91 })
    expect(await statistics.purge()).toBe(1)
    const left = await database.kysely.selectFrom('counted_events').selectAll().execute()
    expect(left).toEqual([])
    await statistics.close()
    await drop()
  })
})
