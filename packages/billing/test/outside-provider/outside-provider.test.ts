import { createBilling, type Gateway, isBillingError } from '@tollgate/billing'
import { type CreateGateway, gatewayContract } from '@tollgate/billing/testing'
import { connect } from '@tollgate/database'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Ledger } from './ledger.ts'
import type { PaperbackOptions } from './options.ts'
import { paperback } from './provider.ts'
import { signEvent } from './webhooks.ts'

const START = new Date('2026-01-15T10:00:00Z')

const createAccount = (): PaperbackOptions => ({
  ledger: new Ledger(),
  secret: 'a secret',
  prices: { monthly: 1000, pro: 2500 },
  now: () => START,
})

const underTest = (change: (gateway: Gateway<'quantities'>) => Partial<Gateway>) => async () => {
  const options = createAccount()
  const provider = paperback(options)
  const connect = async () => {
    const gateway = (await provider.connect()) as Gateway<'quantities'>
    return { ...gateway, ...change(gateway) }
  }
  return {
    provider: { ...provider, connect },
    prices: ['monthly', 'pro'],
    currency: 'usd',
    cards: ['card-4242', 'card-4444'],
    declinedCard: 'stolen',
    now: options.now,
    webhookAbout: async (id: string) => signEvent(options, id),
  } as const
}

describe('a provider from another package keeps the gateway contract', () => {
  gatewayContract(
    { describe, it },
    underTest(() => ({})),
  )
})

/** Runs the contract like a test runner, and returns the titles of failed tests. */
async function failuresOf(create: CreateGateway): Promise<string[]> {
  const tests: Array<{ name: string; body: () => Promise<void> }> = []
  gatewayContract(
    { describe: (_name, body) => body(), it: (name, body) => tests.push({ name, body }) },
    create,
  )
  const failed: string[] = []
  for (const { name, body } of tests) await body().catch(() => failed.push(name))
  return failed
}

describe('the contract tests for gateways', () => {
  it('fail for a gateway that creates a second subscription on a retry', async () => {
    let attempts = 0
    const forgetful = underTest(({ createSubscription }) => ({
      createSubscription: (wanted) =>
        createSubscription({ ...wanted, operation: `${wanted.operation}${++attempts}` }),
    }))
    expect(await failuresOf(forgetful)).toContain(
      'is created and paid once when the operation is repeated',
    )
  })

  it('fail for a gateway that accepts unsigned webhooks', async () => {
    const trusting = underTest(() => ({
      verifyWebhook: async ({ body }) => ({
        id: 'event',
        type: 'subscription.changed',
        payload: body,
        foreign: false,
      }),
    }))
    expect(await failuresOf(trusting)).toEqual(['is rejected if it was changed or is not signed'])
  })

  it('fail for a gateway that lacks a declared capability', async () => {
    const create = underTest(() => ({}))
    const lacking: CreateGateway = async () => {
      const account = await create()
      return { ...account, provider: { ...account.provider, can: ['quantities', 'replacements'] } }
    }
    expect(await failuresOf(lacking)).toEqual(['has exactly the capabilities that it declares'])
  })
})

async function startBilling() {
  const account = createAccount()
  const database = await connect('sqlite::memory:')
  await database.kysely.schema.createTable('users').addColumn('id', 'integer').execute()
  await database.kysely.insertInto('users').values({ id: 1 }).execute()
  const billing = createBilling({
    database,
    users: { table: 'users' },
    providers: [paperback(account)],
    processEvery: false,
    clock: { now: account.now },
  })
  onTestFinished(async () => {
    await billing.close()
    await database.close()
  })
  return { account, billing, user: await billing.user(1) }
}

describe('billing with a provider from another package', () => {
  it('can create, swap, cancel and resume a subscription, and list its invoice', async () => {
    const { user } = await startBilling()
    expect(user.provider).toBe('paperback')
    const builder = user.newSubscription('main', 'monthly').quantity(2)
    const subscription = await builder.create('card-4242')
    expect(await user.subscribed('main', 'monthly')).toBe(true)
    expect(user.cardLastFour).toBe('4242')
    expect((await user.invoices()).map((invoice) => invoice.total())).toEqual(['$20.00'])
    await subscription.incrementQuantity()
    expect(subscription.quantity).toBe(3)
    expect((await subscription.swap('pro')).providerPlan).toBe('pro')
    await subscription.cancel()
    expect(subscription.onGracePeriod()).toBe(true)
    await subscription.resume()
    expect(subscription.recurring()).toBe(true)
    await subscription.cancelNow()
    expect(await subscription.endReason()).toBe('cancelled')
  })

  it('updates the row from the provider’s object when a webhook arrives', async () => {
    const { account, billing, user } = await startBilling()
    const { providerId } = await user.newSubscription('main', 'monthly').create('card-4242')
    const held = account.ledger.subscriptions.get(providerId)
    if (held) held.endedAt = START
    const { body, header } = signEvent(account, providerId)
    const signature = header('paperback-signature') ?? ''
    const request = new Request('https://app.example/paperback/webhook', {
      method: 'POST',
      body,
      headers: { 'paperback-signature': signature },
    })
    expect((await billing.fetch(request)).status).toBe(200)
    await billing.process()
    expect(await user.subscribed('main')).toBe(false)
  })

  it('distinguishes errors by their code', async () => {
    const { user } = await startBilling()
    const thrown = await user.updateCard('stolen').catch((error: unknown) => error)
    expect(isBillingError(thrown, 'payment_failed') && thrown.declineCode).toBe('stolen_card')
    expect(isBillingError(thrown, 'busy')).toBe(false)
  })
})
