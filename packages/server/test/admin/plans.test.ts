import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createAccountHelpers } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'
import { operatorWithForms } from './page-forms.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  service = await startTestService({ options: { keepDemo: true } })
  operators = createOperatorHelpers(service)
  accounts = createAccountHelpers(service)
})
afterAll(() => service?.stop())

async function stripeSdk() {
  const { default: Stripe } = await import('stripe')
  const twin = service.sandbox?.stripe
  if (!twin) throw new Error('The sandbox is missing')
  return new Stripe(twin.apiKey, { ...twin.config, maxNetworkRetries: 0 })
}

/** Creates a price that is in no plan of the configuration. */
const seedPrice = (id: string) =>
  service.sandbox?.stripe.seedPrice({ id, unitAmount: 333, interval: 'week', product: 'Archive' })

const usesIn = (data: readonly { id: string; subscriptions: number }[], wanted: string) =>
  data.find(({ id }) => id === wanted)?.subscriptions ?? 0

describe('plans and prices in the management API', () => {
  it("list the configured plans and the providers' prices, with the number of subscriptions that have not ended", async () => {
    const viewer = await operators.operator('viewer')
    const read = async () => {
      const [plans, stripe, braintree] = await Promise.all(
        ['/plans', '/prices?provider=stripe&limit=100', '/prices?provider=braintree&limit=100'].map(
          async (path) => (await viewer.call('GET', path)).body.data,
        ),
      )
      return { plans, stripe, braintree }
    }
    const before = await read()
    const ended = await accounts.customer('stripe')
    await accounts.customer('stripe')
    await accounts.customer('braintree')
    const billable = await service.billing.user(Number(ended.id))
    await (await billable.subscription('main')).cancelNow()
    const after = await read()
    expect(after.plans).toContainEqual({
      id: 'pro',
      name: expect.any(String),
      price: { amount: 2500, currency: 'usd' },
      months: 1,
      trial_days: expect.any(Number),
      seats: true,
      additional_prices: [],
      provider_ids: { stripe: 'pro', braintree: 'pro' },
      subscriptions: usesIn(before.plans, 'pro') + 2,
    })
    for (const provider of ['stripe', 'braintree'] as const) {
      expect(after[provider], provider).toContainEqual({
        id: 'pro',
        name: expect.any(String),
        amount: { amount: 2500, currency: 'usd' },
        period: { unit: 'month', count: 1 },
        trial_days: null,
        plan: 'pro',
        subscriptions: usesIn(before[provider], 'pro') + 1,
      })
    }
  })

  it('are read page by page, and a price that is not configured has no plan', async () => {
    const viewer = await operators.operator('viewer')
    seedPrice('price_outside')
    const found: { id: string; plan: string | null }[] = []
    let path = '/prices?provider=stripe&limit=1'
    for (;;) {
      const { body } = await viewer.call('GET', path)
      expect(body.data).toHaveLength(1)
      found.push(...body.data)
      if (body.next === null) break
      path = `/prices?provider=stripe&limit=1&after=${body.next}`
    }
    const { body: whole } = await viewer.call('GET', '/prices?provider=stripe&limit=100')
    expect(found).toEqual(whole.data)
    expect(found.find(({ id }) => id === 'price_outside')).toMatchObject({
      plan: null,
      period: { unit: 'week', count: 1 },
      subscriptions: 0,
    })
  })

  it('list coupons and promotion codes', async () => {
    const viewer = await operators.operator('viewer')
    const stripe = await stripeSdk()
    await stripe.coupons.create({ id: 'HALF', percent_off: 50, duration: 'forever' })
    const promotion = { type: 'coupon', coupon: 'HALF' } as const
    await stripe.promotionCodes.create({ code: 'FIFTY', promotion, max_redemptions: 3 })
    const coupons = await viewer.call('GET', '/coupons?provider=stripe&limit=100')
    expect(coupons.body.data).toContainEqual({
      id: 'HALF',
      name: null,
      percent_off: 50,
      amount_off: null,
      lasts: 'forever',
      is_valid: true,
    })
    const codes = await viewer.call('GET', '/promotion-codes?provider=stripe&limit=1')
    expect(codes.body.data).toEqual([
      {
        id: expect.stringMatching(/^promo_/),
        code: 'FIFTY',
        coupon: 'HALF',
        is_active: true,
        expires_at: null,
        left: 3,
      },
    ])
    const none = await viewer.call('GET', '/promotion-codes?provider=braintree')
    expect(none.body).toEqual({ data: [], next: null })
  })

  it.each([
    ['/prices', 422, 'invalid-input'],
    ['/prices?provider=paypal', 422, 'invalid-input'],
    ['/prices?provider=stripe&limit=101', 422, 'invalid-input'],
    ['/prices?provider=stripe&after=forged', 400, 'invalid-cursor'],
  ])('reject %s', async (path, status, type) => {
    const viewer = await operators.operator('viewer')
    expect(await viewer.call('GET', path)).toMatchObject({
      status,
      body: { type: expect.stringContaining(`#${type}`) },
    })
  })

  it('reject the cursor of another list, and a cursor whose price has been deleted', async () => {
    const viewer = await operators.operator('viewer')
    const { body } = await viewer.call('GET', '/prices?provider=stripe&limit=1')
    const other = await viewer.call('GET', `/prices?provider=braintree&after=${body.next}`)
    expect(other.status).toBe(400)
    const gone = service.admin.cursors.encode('prices braintree', 'deleted')
    const late = await viewer.call('GET', `/prices?provider=braintree&after=${gone}`)
    expect(late).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('begin with the first page') },
    })
  })

  it('are refused to people without a role', async () => {
    const person = await operators.operator(null)
    const stranger = operators.with({})
    for (const path of ['/plans', '/prices?provider=stripe', '/coupons?provider=stripe']) {
      expect((await person.call('GET', path)).status, path).toBe(403)
      expect((await stranger('GET', path)).status, path).toBe(401)
    }
  })

  it('show which provider does not respond, and still list the configured plans', async () => {
    const viewer = await operators.operator('viewer')
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    onTestFinished(() => service.sandbox?.trouble.clear())
    expect(await viewer.call('GET', '/prices?provider=stripe')).toMatchObject({
      status: 502,
      body: { type: expect.stringContaining('#provider-unavailable') },
    })
    expect((await viewer.call('GET', '/plans')).status).toBe(200)
    expect((await viewer.call('GET', '/prices?provider=braintree')).status).toBe(200)
  })
})

describe("the operators' page about plans", () => {
  /** The cells of the row that contains this text, without markup. */
  const rowOf = (html: string, list: string, text: string) => {
    const section = html.split(`aria-labelledby="${list}"`)[1]?.split('</section>')[0] ?? ''
    const row = section.split('<tr').find((each) => each.includes(text)) ?? ''
    return [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
      cell
        .replace(/<[^>]+>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    )
  }

  it.each(['viewer', 'owner'] as const)('is shown to a person with the role %s', async (role) => {
    const operator = await operatorWithForms(service, role)
    const { status, html } = await operator.open('/admin/plans')
    expect(status).toBe(200)
    expect(html).toMatch(/<a href="\/admin\/plans" aria-current="page">Plans<\/a>/)
    const [, price, , ids] = rowOf(html, 'configured', '>pro<')
    expect([price, ids]).toEqual(['$25.00 per month', 'Stripe: pro Braintree: pro'])
  })

  it('shows for each price whether it is configured, and how many subscriptions have it', async () => {
    seedPrice('price_unused')
    await accounts.customer('stripe')
    const operator = await operatorWithForms(service, 'viewer')
    const prices = await operator.call('GET', '/prices?provider=stripe&limit=100')
    const { html } = await operator.open('/admin/plans')
    const [, amount, , plan, uses] = rowOf(html, 'stripe-prices', '>pro<')
    expect([amount, plan, uses]).toEqual([
      '$25.00 per month',
      'pro',
      String(usesIn(prices.body.data, 'pro')),
    ])
    const unused = rowOf(html, 'stripe-prices', 'price_unused')
    expect(unused.slice(1)).toEqual(['$3.33 per week', 'None', 'No', '0'])
  })

  it('shows the next page of each list separately, and returns to the first page', async () => {
    for (let n = 1; n <= 30; n++) seedPrice(`price_many_${n}`)
    const operator = await operatorWithForms(service, 'viewer')
    const { html } = await operator.open('/admin/plans')
    const [, next = ''] = /href="(\/admin\/plans\?stripe-prices=[^"]+)"/.exec(html) ?? []
    const second = await operator.open(next)
    expect(second.status).toBe(200)
    const ids = (page: string) => new Set(page.match(/price_many_\d+/g))
    expect([...ids(second.html)].filter((id) => ids(html).has(id))).toEqual([])
    expect(second.html).toContain('aria-label="Back to the first page: Prices at Stripe"')
    const forged = await operator.open('/admin/plans?stripe-prices=forged')
    expect(forged.status).toBe(200)
    expect(forged.html).toContain('This page of the list no longer exists.')
    expect(rowOf(forged.html, 'braintree-prices', '>pro<')).not.toEqual([])
  })

  it('shows everything else while a provider does not respond', async () => {
    const operator = await operatorWithForms(service, 'viewer')
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    onTestFinished(() => service.sandbox?.trouble.clear())
    const { status, html } = await operator.open('/admin/plans')
    expect(status).toBe(200)
    expect(html).toContain('Stripe did not return this list. Reload the page in a moment.')
    expect(rowOf(html, 'configured', '>pro<')).not.toEqual([])
    expect(rowOf(html, 'braintree-prices', '>pro<')).not.toEqual([])
  })

  it('responds with 404 to people without a role', async () => {
    const person = await operatorWithForms(service, null)
    expect((await person.open('/admin/plans')).status).toBe(404)
  })
})

describe('the commands about plans and prices', () => {
  it('print the lists of the management API, and how to get the next page', async () => {
    const viewer = await operators.operator('viewer')
    for (const [path, args] of [
      ['/plans', ['plans']],
      ['/prices?provider=stripe&limit=2', ['prices', 'stripe', '--limit', '2']],
      ['/prices?provider=braintree', ['prices', 'braintree']],
      ['/coupons?provider=braintree', ['coupons', 'braintree']],
      ['/promotion-codes?provider=stripe', ['promotion-codes', 'stripe']],
    ] as const) {
      const { body } = await viewer.call('GET', path)
      const { code, stdout } = await accounts.tollgate('billing', ...args, '--json')
      expect([code, JSON.parse(stdout)], path).toEqual([0, body.data])
    }
    const page = await accounts.tollgate('billing', 'prices', 'stripe', '--limit', '1')
    expect(page.stdout).toMatch(/^ID +NAME +AMOUNT +PER +PLAN +SUBSCRIPTIONS\n/)
    const [, cursor = ''] = /--after (\S+)/.exec(page.stderr) ?? []
    const rest = await accounts.tollgate(
      ...['billing', 'prices', 'stripe', '--after', cursor, '--limit', '1', '--json'],
    )
    const { body } = await viewer.call('GET', '/prices?provider=stripe&limit=2')
    expect(JSON.parse(rest.stdout)).toEqual(body.data.slice(1))
  })

  it('reject an unknown provider, and list the known ones', async () => {
    const { code, stderr } = await accounts.tollgate('billing', 'coupons', 'paypal')
    expect([code, stderr]).toEqual([2, 'There is no provider "paypal": use stripe or braintree\n'])
  })
})
