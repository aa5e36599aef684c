import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers, PROVIDERS } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
  accounts = createAccountHelpers(service)
})
afterAll(() => service?.stop())

const usd = (amount: number) => ({ amount, currency: 'usd' })
const keyed = (key: string, body: object) => ({ body, headers: { 'idempotency-key': key } })

/** A customer who has paid one invoice over 25.00. */
async function payer(provider: 'stripe' | 'braintree' = 'stripe') {
  const customer = await accounts.customer(provider)
  // Else the handlers of its webhooks would meet the faults of a test.
  await service.advance({})
  const [invoice] = await (
    await service.billing.user(Number(customer.id))
  ).invoicesIncludingPending()
  if (!invoice) throw new Error('Nothing was invoiced')
  const path = `/users/${customer.id}/invoices/${invoice.id}`
  return { ...customer, invoice, path, refund: `${path}/refund` }
}

describe('invoices in the management API', () => {
  it.each(PROVIDERS)('are listed, shown, and found by number at %s', async (provider) => {
    const viewer = await operators.operator('viewer')
    const { id, email, invoice, path } = await payer(provider)
    const listed = await viewer.call('GET', `/users/${id}/invoices`)
    const entry = { id: invoice.id, user_id: id, provider, total: usd(2500) }
    expect(listed.body).toMatchObject({ data: [entry], next: null })
    const shown = await viewer.call('GET', path)
    expect(shown.body).toMatchObject({ ...entry, refunded: usd(0), customer: { email } })
    for (const number of [invoice.number, invoice.id]) {
      const found = await viewer.call('GET', `/invoices?number=${encodeURIComponent(number)}`)
      expect(found.body.data, number).toMatchObject([entry])
    }
    expect((await viewer.call('GET', '/invoices?number=NOPE-0001')).body).toEqual({ data: [] })
    const other = await operators.person()
    expect((await viewer.call('GET', `/users/${other.id}/invoices/${invoice.id}`)).status).toBe(404)
  })

  it('are listed page by page, even if new ones are created meanwhile', async () => {
    const viewer = await operators.operator('viewer')
    const { id } = await accounts.customer('stripe', ['pro', 'monthly', 'yearly'])
    const user = await service.billing.user(Number(id))
    await user.invoiceFor('A shirt', { amount: 700, currency: 'usd' })
    const ids = (await user.invoicesIncludingPending()).map((invoice) => invoice.id)
    expect(ids.length).toBeGreaterThanOrEqual(3)
    const seen: string[] = []
    let after = ''
    for (let page = 0; page < ids.length; page++) {
      const { body } = await viewer.call('GET', `/users/${id}/invoices?limit=1${after}`)
      seen.push(...body.data.map((invoice: { id: string }) => invoice.id))
      if (page === 0) await user.invoiceFor('A cap', { amount: 300, currency: 'usd' })
      if (body.next === null) break
      after = `&after=${body.next}`
    }
    expect(seen).toEqual(ids)
  })

  it.each(PROVIDERS)(
    'are refunded once per idempotency key at %s, and only once in full',
    async (provider) => {
      const support = await operators.operator('support')
      const { refund, path } = await payer(provider)
      const whole = await support.call('POST', refund, keyed(`${provider}-whole`, {}))
      expect(whole).toMatchObject({ status: 200, body: { amount: usd(2500) } })
      const again = await support.call('POST', refund, keyed(`${provider}-whole`, {}))
      expect(again.body).toEqual(whole.body)
      const other = await support.call('POST', refund, keyed(`${provider}-other`, {}))
      expect(other.body.refund).toBe(whole.body.refund)
      if (provider === 'stripe') {
        expect((await support.call('GET', path)).body.refunded).toEqual(usd(2500))
      }
      const entries = await operators.entries('billing.refund')
      expect(entries.at(-1)).toMatchObject({ outcome: 'done', subject_kind: 'invoice' })
      expect(entries.at(-1)?.details).toContain(whole.body.refund)
    },
  )

  it.each([
    ['a negative amount', { amount: usd(-1) }, 'amount.amount'],
    ['nothing', { amount: usd(0) }, 'amount.amount'],
    ['a fraction', { amount: usd(10.5) }, 'amount.amount'],
    ['a huge amount', { amount: usd(1e15) }, 'amount.amount'],
    [
      'a number that JSON cannot hold',
      '{"amount":{"amount":1e400,"currency":"usd"}}',
      'amount.amount',
    ],
    ['text', { amount: { amount: '100', currency: 'usd' } }, 'amount.amount'],
    ['a bare number', { amount: 100 }, 'amount'],
    ['no currency', { amount: { amount: 100 } }, 'amount.currency'],
    ['a currency in capitals', { amount: { amount: 100, currency: 'USD' } }, 'amount.currency'],
    ['an unknown field', { amount: usd(100), to: 'me' }, 'to'],
    ['an unknown field of money', { amount: { ...usd(100), exponent: 9 } }, 'exponent'],
  ])(
    'are not refunded, and the provider receives no request, if the request contains %s',
    async (_, body, field) => {
      const support = await operators.operator('support')
      const { refund } = await payer()
      const { trouble } = service.sandbox ?? {}
      trouble?.failNext(100, '500', 'stripe')
      const headers = { 'idempotency-key': `bad ${field}`.replaceAll(' ', '-') }
      const refused = await support.call('POST', refund, { body, headers })
      trouble?.clear()
      expect(refused).toMatchObject({
        status: 422,
        body: { errors: { [field]: [expect.any(String)] } },
      })
    },
  )

  it('are not refunded in another currency, above the amount paid, or without an idempotency key', async () => {
    const support = await operators.operator('support')
    const { refund, path } = await payer()
    const bare = await support.call('POST', refund, { body: {} })
    const foreign = { amount: { amount: 100, currency: 'eur' } }
    const currency = await support.call('POST', refund, keyed('eur', foreign))
    const unknown = { amount: { amount: 100, currency: 'zzz' } }
    const none = await support.call('POST', refund, keyed('zzz', unknown))
    const more = await support.call('POST', refund, keyed('more', { amount: usd(2501) }))
    expect([bare.status, currency.status, none.status, more.status]).toEqual([428, 422, 422, 409])
    expect((await support.call('POST', refund, keyed('part', { amount: usd(2000) }))).status).toBe(
      200,
    )
    const rest = await support.call('POST', refund, keyed('rest', { amount: usd(501) }))
    expect(rest).toMatchObject({ status: 409, body: { detail: expect.stringContaining('$5.00') } })
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(2000))
  })

  it('are not refunded by a viewer, or if the id belongs to another person', async () => {
    const [viewer, support] = [
      await operators.operator('viewer'),
      await operators.operator('support'),
    ]
    const { refund, invoice, path } = await payer()
    expect((await viewer.call('POST', refund, keyed('viewer', {}))).status).toBe(403)
    const other = await payer()
    const foreign = `/users/${other.id}/invoices/${invoice.id}/refund`
    expect((await support.call('POST', foreign, keyed('foreign', {}))).status).toBe(404)
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(0))
  })

  it('are refunded by a client only if it has the scope for actions that cannot be undone', async () => {
    const owner = await operators.operator('owner')
    const { refund, path } = await payer()
    const callAs = async (scopes: readonly string[]) => {
      const body = { name: 'Refunds', scopes }
      const made = await owner.call('POST', '/management-clients', { body })
      expect(made.status).toBe(201)
      const answer = await fetch(`${service.url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: made.body.id,
          client_secret: made.body.secret,
          scope: scopes.join(' '),
        }),
      })
      const { access_token: token } = (await answer.json()) as { access_token: string }
      return operators.with({ authorization: `Bearer ${token}` })
    }
    const writes = await callAs(['admin.billing:write'])
    const reads = await callAs(['admin.billing:read', 'admin:irreversible'])
    const both = await callAs(['admin.billing:write', 'admin:irreversible'])
    const request = keyed('by-client', { amount: usd(100) })
    const statuses = [await writes('POST', refund, request), await reads('POST', refund, request)]
    expect(statuses.map(({ status }) => status)).toEqual([403, 403])
    expect((await reads('GET', path)).body.refunded).toEqual(usd(0))
    expect((await both('POST', refund, request)).status).toBe(200)
    // The key of another caller is another key.
    expect((await owner.call('POST', refund, request)).status).toBe(200)
    expect((await reads('GET', path)).body.refunded).toEqual(usd(200))
  })

  it('are refunded once for two concurrent requests with the same idempotency key, and twice for two keys', async () => {
    const support = await operators.operator('support')
    const { refund, path } = await payer()
    const send = (key: string) => support.call('POST', refund, keyed(key, { amount: usd(300) }))
    const same = await Promise.all([send('twin'), send('twin')])
    const statuses = same.map(({ status }) => status).sort()
    expect([
      [200, 200],
      [200, 409],
    ]).toContainEqual(statuses)
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(300))
    const both = await Promise.all([send('left'), send('right')])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(900))
    const together = await Promise.all(
      ['a', 'b'].map((key) => support.call('POST', refund, keyed(key, { amount: usd(1000) }))),
    )
    expect(together.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(1900))
  })

  it("are refunded once if a provider's response is lost at any step and the request is repeated", async () => {
    const support = await operators.operator('support')
    const { refund, path, customerId } = await payer()
    const { sandbox } = service
    const POINTS = 12
    let failed = 0
    for (let point = 0; point < POINTS; point++) {
      const request = keyed(`lost-${point}`, { amount: usd(100) })
      if (point > 0) sandbox?.trouble.failNext(point, { slowMs: 0 }, 'stripe')
      // The SDK repeats twice by itself.
      sandbox?.trouble.failNext(10, 'half-written', 'stripe')
      const first = await support.call('POST', refund, request)
      sandbox?.trouble.clear()
      if (first.status !== 200) {
        failed++
        expect(first.status).toBe(502)
        const [intent, outcome] = (await operators.entries('billing.refund')).slice(-2)
        expect([intent?.outcome, outcome?.outcome]).toEqual(['started', 'failed'])
        expect(outcome?.intent_id).toBe(intent?.id)
      }
      const repeated = await support.call('POST', refund, request)
      expect(repeated.status, `${point}`).toBe(200)
      expect((await support.call('GET', path)).body.refunded).toEqual(usd(100 * (point + 1)))
    }
    expect(failed).toBeGreaterThan(2)
    const [charge] = sandbox?.stripe.charges(customerId) ?? []
    expect(charge).toMatchObject({ amount_refunded: 100 * POINTS })
  })

  it('are refunded once if the process is killed at any step and the request is repeated', async () => {
    const support = await operators.operator('support')
    const { refund, path } = await payer()
    const request = keyed('died', { amount: usd(400) })
    const first = await support.call('POST', refund, request)
    // What a process leaves behind that dies before it has stored the response.
    await service.database.kysely
      .updateTable('admin_requests')
      .set({ response: null })
      .where('response', 'like', `%${first.body.refund}%`)
      .execute()
    const early = await support.call('POST', refund, request)
    expect(early).toMatchObject({
      status: 409,
      body: { type: expect.stringContaining('#request-in-progress') },
    })
    service.clock.advance({ seconds: 121 })
    const [one, two] = await Promise.all([
      support.call('POST', refund, request),
      support.call('POST', refund, request),
    ])
    expect([200, 409]).toContain(two.status)
    expect([one, two].filter(({ status }) => status === 200)[0]?.body).toEqual(first.body)
    expect((await support.call('GET', path)).body.refunded).toEqual(usd(400))
  })

  it('can be voided while unpaid, but only at Stripe', async () => {
    const support = await operators.operator('support')
    const { path, customerId } = await payer()
    const paid = await support.call('POST', `${path}/void`)
    expect(paid).toMatchObject({ status: 409 })
    service.sandbox?.trouble.declineNextCharge(customerId, 'insufficient_funds')
    await service.advance({ months: 1, days: 1 })
    const { body } = await support.call('GET', path.replace(/\/[^/]+$/, ''))
    const open = body.data.find(({ status }: { status: string }) => status === 'unpaid')
    const voided = await support.call('POST', `${path.replace(/\/[^/]+$/, '')}/${open?.id}/void`)
    expect(voided).toMatchObject({ status: 200, body: { status: 'void' } })
    const other = await payer('braintree')
    expect((await support.call('POST', `${other.path}/void`)).status).toBe(409)
  })
})

describe('the balance of a person in the management API', () => {
  it('is credited and debited once per idempotency key, even if a response is lost', async () => {
    const support = await operators.operator('support')
    const { id } = await payer()
    const credit = `/users/${id}/credit`
    const balance = async () => (await support.call('GET', `/users/${id}/customer`)).body.balance
    expect((await support.call('POST', credit, { body: { amount: usd(500) } })).status).toBe(428)
    for (let point = 0; point < 8; point++) {
      const request = keyed(`credit-${point}`, { amount: usd(500), description: 'Sorry, Ada' })
      if (point > 0) service.sandbox?.trouble.failNext(point, { slowMs: 0 }, 'stripe')
      service.sandbox?.trouble.failNext(10, 'half-written', 'stripe')
      await support.call('POST', credit, request)
      service.sandbox?.trouble.clear()
      expect((await support.call('POST', credit, request)).status).toBe(200)
      expect(await balance()).toEqual(usd(500 * (point + 1)))
    }
    const debit = await support.call(
      'POST',
      `/users/${id}/debit`,
      keyed('debit', { amount: usd(900) }),
    )
    expect(debit).toMatchObject({ status: 200, body: { amount: usd(-900), balance: usd(3100) } })
    const entries = await operators.entries('billing.credit')
    expect(entries.every(({ details }) => !String(details).includes('Ada'))).toBe(true)
  })

  it('has a single currency, and exists only at Stripe', async () => {
    const support = await operators.operator('support')
    const { id } = await payer()
    const euros = { amount: { amount: 500, currency: 'eur' } }
    const foreign = await support.call('POST', `/users/${id}/credit`, keyed('euros', euros))
    expect(foreign).toMatchObject({
      status: 422,
      body: { errors: { 'amount.currency': [expect.any(String)] } },
    })
    const other = await payer('braintree')
    const unable = await support.call(
      'POST',
      `/users/${other.id}/credit`,
      keyed('bt', { amount: usd(5) }),
    )
    expect(unable).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('does not support customer balances') },
    })
    const person = await operators.person()
    const none = await support.call(
      'POST',
      `/users/${person.id}/credit`,
      keyed('none', { amount: usd(5) }),
    )
    expect(none.status).toBe(409)
  })
})
