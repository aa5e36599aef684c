import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTestDatabase } from '../../../../../../test-support/create-test-database.ts'
import { PROVIDERS, type ProviderCase, start, stripeSdk } from '../../../../test/support.ts'
import { type BillableUser, createBilling, type WebhookHandlers } from '../../../index.ts'
import type { BillingTest } from '../../../testing/index.ts'

interface Sent {
  readonly body: Buffer
  readonly header: string
  readonly headers: Record<string, string>
}
const NO_TEXT = Buffer.from([0xff])

/** Simulates a year of a subscription, most of it without calls of ours. */
async function simulateYear(
  test: BillingTest,
  user: BillableUser,
  { card, provider }: ProviderCase,
) {
  const subscription = await user.newSubscription('main', 'monthly').trialDays(5).create(card)
  await test.advance({ days: 6 })
  await subscription.swap('pro')
  await test.advance({ months: 2 })
  const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
  test.sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
  // The retry some days later succeeds.
  await test.advance({ months: 1, days: 8 })
  await (await user.subscription('main')).cancel()
  await test.advance({ days: 3 })
  await (await user.subscription('main')).resume()
  await test.advance({ months: 1 })
}

describe.each(PROVIDERS)('webhooks of $provider', (given) => {
  const { provider, card } = given

  it.each([
    ['delivered normally', {}],
    ['duplicated', { duplicate: true }],
    ['reordered', { reorder: true }],
    ['delayed', { delaySeconds: 3 * 3600 }],
    ['damaged in transit', { corrupt: true }],
  ])('update our rows to the provider’s state when they are %s', async (_name, switches) => {
    const test = await start(provider)
    test.sandbox.outbox.set(switches)
    await simulateYear(test, test.user, given)
    await test.advance({ days: 2 })
    expect(await test.billing.webhooks.pending()).toEqual([])
    expect(await test.billing.webhooks.deadLetters()).toEqual([])
    const { drift } = await test.billing.sync({ dryRun: true })
    expect(drift).toEqual([])
  })

  it('may be lost: sync() then updates the rows, and can be repeated (threat W4)', async () => {
    const test = await start(provider)
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await test.settle()
    test.sandbox.outbox.set({ drop: true })
    await endAtProvider(test, subscription.providerId)
    await test.settle()
    expect(await user.subscribed('main')).toBe(true)
    const dry = await test.billing.sync({ dryRun: true })
    expect(dry.drift).toMatchObject([{ what: 'outdated row', providerId: subscription.providerId }])
    expect(await user.subscribed('main')).toBe(true)
    const report = await test.billing.sync()
    expect(report).toMatchObject({ users: 1, failures: [], drift: [{ what: 'outdated row' }] })
    expect(await user.subscribed('main')).toBe(false)
    expect((await test.billing.sync()).drift).toEqual([])
  })

  it('restore a subscription row that was lost', async () => {
    const test = await start(provider)
    const { user, database } = test
    await user.newSubscription('default', 'monthly').create(card)
    await database.kysely.deleteFrom('subscriptions').execute()
    await test.advance({ months: 1, hours: 2 })
    expect(await user.subscribed('default')).toBe(true)
  })

  it('end access when the provider ended a subscription after failed charges', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create(card)
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    for (let i = 0; i < 20; i++) sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await test.advance({ months: 1, hours: 2 })
    expect(await user.subscribed('main')).toBe(true)
    await test.advance({ days: 27 })
    expect(await user.subscribed('main')).toBe(false)
    expect((await user.subscription('main')).ended()).toBe(true)
  })

  it('end a subscription after the number of failed charges in the `maxFailedCharges` option', async () => {
    const test = await start(provider, { maxFailedCharges: 1 })
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create(card)
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    for (let i = 0; i < 5; i++) sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await test.advance({ months: 1, hours: 2 })
    expect(await user.subscribed('main')).toBe(false)
  })

  it('are rejected if they are forged (threat W1)', async () => {
    const test = await start(provider)
    const path = `https://app.example.com/${provider}/webhook`
    const bodies = [
      '',
      '{}',
      JSON.stringify({ id: 'evt_1', type: 'customer.subscription.deleted' }),
      'bt_signature=a%7Cb&bt_payload=PHg%2B',
      'bt_signature=&bt_payload=',
    ]
    for (const body of bodies) {
      for (const headers of [{}, { 'stripe-signature': 't=1,v1=00' }]) {
        const request = new Request(path, { method: 'POST', body, headers })
        expect((await test.billing.fetch(request)).status).toBe(400)
      }
    }
    const huge = new Request(path, { method: 'POST', body: 'x'.repeat(1024 * 1024 + 1) })
    expect((await test.billing.fetch(huge)).status).toBe(413)
    expect((await test.billing.fetch(new Request(path))).status).toBe(405)
    expect(await test.billing.webhooks.pending()).toEqual([])
  })

  it('are acknowledged but change nothing if their customer is unknown (threat W3)', async () => {
    const test = await start(provider)
    const other = await test.createUser()
    await other.newSubscription('main', 'monthly').create(card)
    await test.settle()
    await test.database.kysely.deleteFrom('subscriptions').execute()
    await test.database.kysely
      .updateTable('users')
      .set({ provider: null, provider_id: null })
      .execute()
    await test.advance({ months: 1, hours: 2 })
    expect(await test.billing.webhooks.pending()).toEqual([])
    expect(await other.subscriptions()).toEqual([])
  })

  it('are retried after a failure, become dead letters in the end, and can then be retried manually (threat W4)', async () => {
    let broken = true
    let handled = 0
    const handle = async (_event: unknown, context: { runDefault(): Promise<void> }) => {
      if (broken) throw new Error('out of order')
      handled += 1
      await context.runDefault()
    }
    const handlers: WebhookHandlers = {
      handleCustomerSubscriptionDeleted: handle,
      handleSubscriptionCanceled: handle,
    }
    const test = await start(provider, { handlers, webhookAttempts: 3 })
    const { user, billing } = test
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await test.settle()
    await endAtProvider(test, subscription.providerId)
    await test.settle()
    expect(await billing.webhooks.pending()).toMatchObject([
      { attempts: 1, lastError: 'Error: out of order' },
    ])
    await test.advance({ minutes: 2 })
    await test.advance({ minutes: 2 })
    const dead = await billing.webhooks.deadLetters()
    expect(dead).toMatchObject([{ attempts: 3, state: 'dead' }])
    expect(await user.subscribed('main')).toBe(true)
    broken = false
    expect(await billing.webhooks.retry(dead[0]?.id ?? 0)).toBe(true)
    await billing.process()
    expect(handled).toBe(1)
    // It was handled by now, so a second retry changes nothing.
    expect(await billing.webhooks.retry(dead[0]?.id ?? 0)).toBe(false)
    await billing.process()
    expect(handled).toBe(1)
    expect(await user.subscribed('main')).toBe(false)
    expect(await billing.webhooks.deadLetters()).toEqual([])
    expect((await billing.purge({ before: new Date(Date.UTC(2030, 0)) })).webhooks).toBeGreaterThan(
      0,
    )
  })

  it('call the application’s handler instead of the default one', async () => {
    const seen: string[] = []
    class Handlers implements WebhookHandlers {
      readonly #seen = seen
      handleCustomerSubscriptionDeleted(payload: { type: string }) {
        this.#seen.push(payload.type)
      }
      handleSubscriptionCanceled(notification: { kind: string }) {
        this.#seen.push(notification.kind)
      }
    }
    const test = await start(provider, { handlers: new Handlers() })
    const subscription = await test.user.newSubscription('main', 'monthly').create(card)
    await test.settle()
    await endAtProvider(test, subscription.providerId)
    await test.settle()
    const name = { stripe: 'customer.subscription.deleted', braintree: 'subscription_canceled' }
    expect(seen).toEqual([name[provider]])
    expect(await test.user.subscribed('main')).toBe(true)
  })
})

describe('webhooks of another Stripe mode or account (threat W3)', () => {
  it.each([{ livemode: true }, { account: 'acct_1' }])(
    'have no effect if the event contains %o',
    async (change) => {
      const test = await start('stripe', { webhooks: false })
      const subscription = await test.user.newSubscription('main', 'monthly').create('pm_card_visa')
      await endAtProvider(test, subscription.providerId)
      const event = test.sandbox.stripe.events('customer.subscription.deleted').at(-1)
      const body = JSON.stringify({ ...event, ...change })
      const stripe = await stripeSdk(test)
      const secret = 'whsec_mode'
      const signature = stripe.webhooks.generateTestHeaderString({ payload: body, secret })
      const { apiKey, config } = test.sandbox.stripe
      const billing = test.another({
        stripe: { secret: apiKey, webhookSecret: ['whsec_old', secret], config },
      })
      const send = (sent: string) =>
        billing.fetch(
          new Request('https://app.example.com/stripe/webhook', {
            method: 'POST',
            body: sent,
            headers: { 'stripe-signature': signature },
          }),
        )
      expect((await send(body)).status).toBe(200)
      expect((await send(`${body} `)).status).toBe(400)
      await billing.process()
      expect(await test.user.subscribed('main')).toBe(true)
    },
  )
})

describe('the age of a Stripe signature (threat W1)', () => {
  it.each([10, -10, 365 * 1440, -365 * 1440])(
    'is compared with the real time, even if the clock of billing and the sandbox is %i minutes off',
    async (minutes) => {
      const now = new Date(Date.now() + minutes * 60_000)
      const test = await start('stripe', { webhooks: false, now })
      const stripe = await stripeSdk(test)
      await stripe.customers.create({ email: 'ada@example.com' })
      const payload = JSON.stringify(test.sandbox.stripe.events('customer.created').at(-1))
      const secret = 'whsec_age'
      const { apiKey, config } = test.sandbox.stripe
      const billing = test.another({ stripe: { secret: apiKey, webhookSecret: secret, config } })
      const send = async (at: number) => {
        const timestamp = Math.floor(at / 1000)
        const signed = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })
        const headers = { 'stripe-signature': signed }
        const url = 'https://app.example.com/stripe/webhook'
        const sent = new Request(url, { method: 'POST', body: payload, headers })
        return (await billing.fetch(sent)).status
      }
      expect(await send(now.getTime())).toBe(400)
      expect(await send(Date.now() - 310_000)).toBe(400)
      expect(await send(Date.now())).toBe(200)
    },
  )
})

describe('a webhook of Stripe (threat W1)', () => {
  it.each<readonly [how: string, status: number, change: (sent: Sent) => Partial<Sent>]>([
    ['unchanged', 200, () => ({})],
    ['as text/plain', 200, () => ({ headers: { 'content-type': 'text/plain' } })],
    [
      'with a second signature by another secret',
      200,
      ({ header }) => ({ header: `${header},v1=${'0'.repeat(64)}` }),
    ],
    [
      'with an invalid signature before the valid one',
      200,
      ({ header }) => ({ header: header.replace(',', ',v1=x,') }),
    ],
    [
      'signed with the test scheme v0',
      400,
      ({ header }) => ({ header: header.replace('v1=', 'v0=') }),
    ],
    [
      'compressed',
      400,
      ({ body }) => ({ body: gzipSync(body), headers: { 'content-encoding': 'gzip' } }),
    ],
    ['without its last byte', 400, ({ body }) => ({ body: body.subarray(0, -1) })],
    [
      'with a byte that is not UTF-8',
      400,
      ({ body }) => ({ body: Buffer.concat([body, NO_TEXT]) }),
    ],
  ])('sent %s is answered with the status %i', async (_how, status, change) => {
    const test = await start('stripe', { webhooks: false })
    const stripe = await stripeSdk(test)
    await stripe.customers.update(
      (await stripe.customers.create({ email: 'ada@example.com' })).id,
      { name: 'Ada' },
    )
    const event = test.sandbox.stripe.events('customer.updated').at(-1)
    const payload = JSON.stringify(event)
    const secret = 'whsec_table'
    const header = stripe.webhooks.generateTestHeaderString({ payload, secret })
    const { apiKey, config } = test.sandbox.stripe
    const billing = test.another({ stripe: { secret: apiKey, webhookSecret: secret, config } })
    const whole: Sent = { body: Buffer.from(payload), header, headers: {} }
    const sent = { ...whole, ...change(whole) }
    const response = await billing.fetch(
      new Request('https://app.example.com/stripe/webhook', {
        method: 'POST',
        body: new Uint8Array(sent.body),
        headers: { ...sent.headers, 'stripe-signature': sent.header },
      }),
    )
    expect(response.status).toBe(status)
    const kept = await test.database.kysely
      .selectFrom('billing_webhooks')
      .select('event_id')
      .where('event_id', '=', String(event?.id))
      .execute()
    expect(kept).toHaveLength(status === 200 ? 1 : 0)
  })
})

describe('billing that was just created and not used yet', () => {
  it('processes its webhook inbox without an error', async () => {
    const { database, drop } = await createTestDatabase()
    onTestFinished(drop)
    await database.kysely.schema.createTable('users').addColumn('id', 'bigint').execute()
    const problems: string[] = []
    const billing = createBilling({
      database,
      users: { table: 'users' },
      stripe: { secret: 'sk_test_none', webhookSecret: 'whsec_none' },
      processEvery: 1,
      logger: { error: (problem) => void problems.push(problem) },
    })
    onTestFinished(() => billing.close())
    const inbox = () => database.kysely.selectFrom('billing_webhooks').selectAll().execute()
    await vi.waitFor(async () => expect(await inbox()).toEqual([]), 10_000)
    expect(problems).toEqual([])
  })
})

describe('Braintree’s verification of a webhook URL', () => {
  it('is answered by the webhook route', async () => {
    const test = await start('braintree')
    const [url] = test.sandbox.braintree.webhooks()
    expect(await test.sandbox.braintree.verifyWebhook(url ?? '')).toBe(true)
  })
})

async function endAtProvider(test: BillingTest, id: string): Promise<void> {
  if (id.startsWith('sub_')) {
    await (await stripeSdk(test)).subscriptions.cancel(id)
    return
  }
  const { default: braintree } = await import('braintree')
  const gateway = new braintree.BraintreeGateway(test.sandbox.braintree.config as never)
  await gateway.subscription.cancel(id)
}

it('startBilling() delivers all Stripe events if handlers are configured, otherwise only those that billing needs', async () => {
  const told: string[] = []
  const handlers: WebhookHandlers = {
    handleChargeSucceeded: async () => void told.push('charge.succeeded'),
  }
  const sent = async (options: { readonly handlers?: WebhookHandlers }) => {
    const test = await start('stripe', options)
    await test.user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.settle()
    return test.sandbox.outbox.deliveries().map(({ eventType }) => eventType)
  }
  const usual = await sent({})
  expect(usual).toContain('invoice.paid')
  expect(usual).not.toContain('charge.succeeded')
  expect(await sent({ handlers })).toContain('charge.succeeded')
  expect(told).toEqual(['charge.succeeded'])
})
