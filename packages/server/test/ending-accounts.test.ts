import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers, newAddress, PASSWORD, PROVIDERS } from './accounts.ts'
import { startTestService, type TestService } from './support.ts'

let service: TestService
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  service = await startTestService({ options: { keepDemo: true } })
  accounts = createAccountHelpers(service)
})
afterAll(() => service.stop())

const tollgate = (...args: string[]) => accounts.tollgate(...args)
const customer: typeof accounts.customer = (...args) => accounts.customer(...args)
const renewing: typeof accounts.renewing = (...args) => accounts.renewing(...args)
const canSignIn = (email: string) => accounts.canSignIn(email)
const exists = (id: string) => accounts.exists(id)

describe.each(PROVIDERS)('tollgate user disable for a customer of %s (threat Q4)', (provider) => {
  it('requires a choice of what happens to the subscription: without it, it lists the choices and changes nothing', async () => {
    const ada = await customer(provider)
    const refused = await tollgate('user', 'disable', ada.email)
    expect(refused.code).toBe(2)
    for (const choice of ['now', 'period-end', 'keep']) {
      expect(refused.stderr).toContain(`--subscription ${choice}`)
    }
    const { code, stderr } = await tollgate('user', 'disable', ada.email, '--json')
    expect([code, JSON.parse(stderr)]).toEqual([
      2,
      expect.objectContaining({
        error: expect.stringContaining('“main” (plan pro'),
        choices: ['now', 'period-end', 'keep'],
        subscriptions: [expect.objectContaining({ name: 'main', provider, state: 'running' })],
      }),
    ])
    expect(await canSignIn(ada.email)).toBe(true)
    expect(renewing(provider, ada.customerId)).toBe(1)
  })

  it.each([
    ['now', 'ended', 'ended on', 0],
    ['period-end', 'ending', 'is cancelled and ends on', 0],
    ['keep', 'running', 'continues', 1],
  ] as const)(
    'applies the choice "%s", reports it, and reports it again when the account is enabled',
    async (...row) => {
      const [choice, state, words, left] = row
      const ada = await customer(provider)
      const args = ['user', 'disable', ada.id, '--subscription', choice]
      const { code, stdout } = await tollgate(...args)
      expect([code, stdout]).toEqual([0, expect.stringContaining(words)])
      expect(await canSignIn(ada.email)).toBe(false)
      expect(renewing(provider, ada.customerId)).toBe(left)
      // A repeat finds it so.
      const again = JSON.parse((await tollgate(...args, '--json')).stdout)
      expect(again).toMatchObject({ disabled: true, subscriptions: [{ name: 'main', state }] })
      const enabled = await tollgate('user', 'enable', ada.id)
      expect(enabled.stdout).toContain(words)
      const json = JSON.parse((await tollgate('user', 'enable', ada.id, '--json')).stdout)
      expect(json).toMatchObject({ disabled: false, subscriptions: [{ state }] })
      expect(await canSignIn(ada.email)).toBe(true)
    },
  )

  it('does not require --subscription if the subscription is already cancelled and in its grace period', async () => {
    const ada = await customer(provider)
    await (await (await service.billing.user(Number(ada.id))).subscription('main')).cancel()
    const { code, stdout } = await tollgate('user', 'disable', ada.id)
    expect([code, stdout]).toEqual([0, expect.stringContaining('is cancelled and ends on')])
  })
})

describe.each(PROVIDERS)('tollgate user delete for a customer of %s (threat Q4)', (provider) => {
  it('refuses while a subscription is running, even with --subscription keep, and lists the allowed values', async () => {
    const ada = await customer(provider)
    for (const choice of [[], ['--subscription', 'keep']]) {
      const { code, stderr } = await tollgate('user', 'delete', ada.id, ...choice, '--json')
      expect([code, JSON.parse(stderr)]).toEqual([
        2,
        expect.objectContaining({ choices: ['now', 'period-end'] }),
      ])
    }
    expect((await tollgate('user', 'delete', ada.id)).stderr).toContain(
      `tollgate user disable ${ada.id} --subscription keep`,
    )
    expect(await canSignIn(ada.email)).toBe(true)
    expect(renewing(provider, ada.customerId)).toBe(1)
  })

  it('ends all subscriptions with --subscription now, and keeps the invoices', async () => {
    const ada = await customer(provider, ['pro', 'yearly'])
    const { code, stdout } = await tollgate('user', 'delete', ada.id, '--subscription', 'now')
    expect(code).toBe(0)
    expect(stdout).toContain(`Deleted ${ada.email}`)
    expect(stdout).toContain('“main” (plan pro')
    expect(stdout).toContain('“extra-1” (plan yearly')
    expect(await exists(ada.id)).toBe(false)
    expect(renewing(provider, ada.customerId)).toBe(0)
    if (provider === 'stripe') {
      const invoices = service.sandbox?.stripe.paidInvoices(ada.customerId) ?? []
      expect(invoices.map(({ total }) => total).sort()).toEqual([10_000, 2500])
    }
    await service.advance({ months: 13 })
    expect(renewing(provider, ada.customerId)).toBe(0)
  })

  it('disables the account until the paid period ends, and deletes it if the command is repeated afterwards', async () => {
    const ada = await customer(provider)
    const args = ['user', 'delete', ada.id, '--subscription', 'period-end', '--json']
    for (let times = 0; times < 2; times++) {
      const { code, stdout } = await tollgate(...args)
      expect([code, JSON.parse(stdout)]).toEqual([
        0,
        expect.objectContaining({
          deleted: false,
          subscriptions: [expect.objectContaining({ state: 'ending' })],
        }),
      ])
    }
    expect([await exists(ada.id), await canSignIn(ada.email)]).toEqual([true, false])
    expect(renewing(provider, ada.customerId)).toBe(0)
    await service.advance({ months: 1, hours: 2 })
    const deleted = await tollgate('user', 'delete', ada.id, '--json')
    expect([deleted.code, deleted.stderr]).toEqual([0, ''])
    expect(JSON.parse(deleted.stdout)).toMatchObject({ deleted: true })
    expect(await exists(ada.id)).toBe(false)
  })

  it('does not require --subscription once all subscriptions have ended', async () => {
    const ada = await customer(provider)
    await (await (await service.billing.user(Number(ada.id))).subscription('main')).cancelNow()
    expect((await tollgate('user', 'delete', ada.email)).code).toBe(0)
    expect(await exists(ada.id)).toBe(false)
  })

  it('deletes the account once when two operators run it concurrently', async () => {
    const ada = await customer(provider, ['pro', 'yearly'])
    const args = ['user', 'delete', ada.id, '--subscription', 'now'] as const
    const codes = (await Promise.all([tollgate(...args), tollgate(...args)])).map((one) => one.code)
    expect(codes).toContain(0)
    expect([await exists(ada.id), renewing(provider, ada.customerId)]).toEqual([false, 0])
  })
})

describe('a disabled account', () => {
  it("cannot subscribe on a provider's hosted page that was still open (threat Q4)", async () => {
    const { id, email } = await service.users.create({
      email: newAddress('shopper'),
      password: PASSWORD,
    })
    const billable = await service.billing.user(Number(id))
    const page = await billable.newSubscription('main', 'pro').checkout({ successPath: '/billing' })
    expect((await tollgate('user', 'disable', email)).code).toBe(0)
    expect(() => service.sandbox?.stripe.completeCheckout(page.id)).toThrow()
  })
})

describe('the open amounts of an account that is deleted', () => {
  const stripe = () =>
    new Stripe(service.sandbox?.stripe.apiKey ?? '', service.sandbox?.stripe.config)

  it('are listed, and an unpaid invoice is voided by the deletion, while paid invoices stay', async () => {
    const ada = await customer('stripe')
    service.sandbox?.trouble.declineNextCharge(ada.customerId, 'card_declined')
    await service.advance({ months: 1, hours: 2 })
    const billable = await service.billing.user(Number(ada.id))
    expect((await billable.subscription('main')).pastDue()).toBe(true)
    const args = ['user', 'delete', ada.id, '--subscription', 'now'] as const
    const { code, stderr } = await tollgate(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining('not paid: $25.00 of invoice')])
    expect(stderr).toContain('--void-open')
    const json = JSON.parse((await tollgate(...args, '--json')).stderr)
    expect(json.unpaid).toEqual([
      expect.objectContaining({ provider: 'stripe', amount: { amount: 2500, currency: 'usd' } }),
    ])
    expect(renewing('stripe', ada.customerId)).toBe(1)
    const done = await tollgate(...args, '--void-open')
    expect([done.code, done.stdout]).toEqual([
      0,
      expect.stringContaining('Voided: not paid: $25.00'),
    ])
    const { data } = await stripe().invoices.list({ customer: ada.customerId })
    expect(data.map(({ status }) => status)).toEqual(['void', 'paid'])
  })

  it('are listed at Braintree, too, where a failed payment ends together with its subscription', async () => {
    const ada = await customer('braintree')
    service.sandbox?.trouble.declineNextCharge(ada.customerId, '2001')
    await service.advance({ months: 1, hours: 2 })
    const args = ['user', 'delete', ada.id, '--subscription', 'now'] as const
    expect((await tollgate(...args)).stderr).toContain('not paid: $25.00 of a failed payment')
    expect((await tollgate(...args, '--void-open')).code).toBe(0)
    expect([await exists(ada.id), renewing('braintree', ada.customerId)]).toEqual([false, 0])
  })

  it('are listed for reported usage, whether or not it was sent to the provider', async () => {
    const meter = await stripe().billing.meters.create({
      display_name: 'Calls',
      event_name: 'calls',
      default_aggregation: { formula: 'sum' },
    })
    const product = await stripe().products.create({ name: 'Calls' })
    const price = await stripe().prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 2,
      recurring: { interval: 'month', usage_type: 'metered', meter: meter.id },
    })
    const ada = await customer('stripe')
    const billable = await service.billing.user(Number(ada.id))
    await (await billable.subscription('main')).addMeteredPrice(price.id)
    // The report waits for the next attempt, an hour later at most.
    await service.billing.usage.meters()
    service.sandbox?.trouble.failNext(50, '500', 'stripe')
    await billable.reportUsage('calls', 10)
    await service.billing.process()
    service.sandbox?.trouble.clear()
    const args = ['user', 'delete', ada.id, '--subscription', 'now'] as const
    expect((await tollgate(...args)).stderr).toContain('not billed yet: 1 report of calls')
    await service.advance({ hours: 1 })
    await service.billing.process()
    expect((await tollgate(...args)).stderr).toContain('not billed yet: $0.20 for')
    expect(renewing('stripe', ada.customerId)).toBe(1)
    expect((await tollgate(...args, '--void-open')).code).toBe(0)
    expect(await exists(ada.id)).toBe(false)
    await service.advance({ months: 2 })
    const { data } = await stripe().invoices.list({ customer: ada.customerId })
    expect(data.map(({ total }) => total)).toEqual([2500])
  })
})

describe("the operators' pages that disable or delete an account", () => {
  async function operator() {
    const email = newAddress('operator')
    await service.users.create({ email, password: PASSWORD, role: 'owner' })
    const browser = service.browser()
    await browser.signIn(email, PASSWORD)
    const csrf_token = await browser.csrfToken()
    return {
      browser,
      read: async (path: string) => (await browser.get(path)).text(),
      async post(path: string, fields: Record<string, string>) {
        const response = await browser.post(path, { csrf_token, ...fields })
        return {
          status: response.status,
          to: response.headers.get('location'),
          text: await response.text(),
        }
      },
    }
  }

  it('find an account by its e-mail address, without changing anything', async () => {
    const ada = await customer('stripe')
    const { post, read } = await operator()
    const found = await post('/admin/people', { person: ` ${ada.email.toUpperCase()} ` })
    expect(found).toMatchObject({ status: 303, to: `/admin/people/${ada.id}` })
    const page = await read(`/admin/people/${ada.id}`)
    expect(page).toContain('$25.00')
    expect(page).toContain('continues: Stripe charges each renewal')
    expect(await canSignIn(ada.email)).toBe(true)
    expect((await post('/admin/people', { person: 'nobody' })).to).toBe(
      '/admin/people?done=unknown',
    )
  })

  it('ask what should happen to the subscription before an account is disabled (threat Q4)', async () => {
    const ada = await customer('stripe')
    const { post, read } = await operator()
    const asked = await read(`/admin/people/${ada.id}/disable`)
    for (const choice of ['now', 'period-end', 'keep']) expect(asked).toContain(`value="${choice}"`)
    expect(asked).toContain(ada.email)
    const stay = await post(`/admin/people/${ada.id}/disable`, { decision: 'stay' })
    expect(stay.to).toBe(`/admin/people/${ada.id}`)
    const form = { decision: 'go' }
    expect((await post(`/admin/people/${ada.id}/disable`, form)).status).toBe(422)
    expect(await canSignIn(ada.email)).toBe(true)
    const done = await post(`/admin/people/${ada.id}/disable`, {
      ...form,
      subscription: 'period-end',
    })
    expect(done.to).toBe(`/admin/people/${ada.id}?done=disabled`)
    expect(await read(done.to ?? '')).toContain('is cancelled and ends on')
    expect(await canSignIn(ada.email)).toBe(false)
    const enabled = await post(`/admin/people/${ada.id}/enable`, {})
    expect(await read(enabled.to ?? '')).toContain('is cancelled and ends on')
    expect(await canSignIn(ada.email)).toBe(true)
  })

  it('delete a person who has paid, and report what was done', async () => {
    const ada = await customer('stripe', ['pro', 'yearly'])
    const { post, read } = await operator()
    const asked = await read(`/admin/people/${ada.id}/delete`)
    expect(asked).toContain('This cannot be undone')
    const form = { decision: 'go', subscription: 'now' }
    expect((await post(`/admin/people/${ada.id}/delete`, form)).status).toBe(422)
    const without = { confirm: 'yes' }
    expect((await post(`/admin/people/${ada.id}/delete`, without)).status).toBe(422)
    expect(await canSignIn(ada.email)).toBe(true)
    const done = await post(`/admin/people/${ada.id}/delete`, { ...form, confirm: 'yes' })
    expect(done.status).toBe(200)
    expect(done.text).toContain('“extra-1” (plan yearly, Stripe) ended on')
    expect([await exists(ada.id), renewing('stripe', ada.customerId)]).toEqual([false, 0])
  })

  it('list open amounts, and void them with the deletion', async () => {
    const ada = await customer('stripe')
    service.sandbox?.trouble.declineNextCharge(ada.customerId, 'card_declined')
    await service.advance({ months: 1, hours: 2 })
    const { post, read } = await operator()
    expect(await read(`/admin/people/${ada.id}/delete`)).toContain('not paid: $25.00')
    const form = { subscription: 'now', confirm: 'yes' }
    expect((await post(`/admin/people/${ada.id}/delete`, form)).status).toBe(422)
    expect(await exists(ada.id)).toBe(true)
    const done = await post(`/admin/people/${ada.id}/delete`, { ...form, void: 'yes' })
    expect(done.text).toContain('Voided: not paid: $25.00')
  })

  it('say that the account is disabled but the deletion is unfinished if a provider is unavailable', async () => {
    const ada = await customer('stripe')
    const { post } = await operator()
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    const form = { subscription: 'now' }
    const failed = await post(`/admin/people/${ada.id}/disable`, form)
    expect([failed.status, failed.text]).toEqual([503, expect.stringContaining('is disabled, but')])
    const asked = await post(`/admin/people/${ada.id}/delete`, { ...form, confirm: 'yes' })
    expect([asked.status, await exists(ada.id)]).toEqual([503, true])
    service.sandbox?.trouble.clear()
    expect((await post(`/admin/people/${ada.id}/disable`, form)).status).toBe(303)
    expect(renewing('stripe', ada.customerId)).toBe(0)
  })

  it('require a signed-in operator and a CSRF token', async () => {
    const ada = await customer('stripe')
    const { browser } = await operator()
    const stranger = service.browser()
    await stranger.signIn(ada.email, PASSWORD)
    for (const path of ['', '/disable', '/delete']) {
      expect((await stranger.get(`/admin/people/${ada.id}${path}`)).status).toBe(404)
      const target = path === '' ? '/admin/people' : `/admin/people/${ada.id}${path}`
      expect((await browser.post(target, { confirm: 'yes' })).status).toBe(403)
    }
    expect(await canSignIn(ada.email)).toBe(true)
  })
})
