import { connect } from '@tollgate/database'
import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { createBilling, SubscriptionEnded, UserNotFound } from '../src/index.ts'
import { PROVIDERS, START, start } from './support.ts'

const stripe = { secret: 'sk_test_1', webhookSecret: 'whsec_1' }

describe('the application’s own user table', () => {
  it('gets billing’s columns once, and keeps its data', async () => {
    const { database, drop } = await createTestDatabase()
    await database.kysely.schema
      .createTable('people')
      .addColumn('uid', 'varchar(64)', (column) => column.primaryKey())
      .addColumn('nickname', 'varchar(64)')
      .execute()
    await database.kysely.insertInto('people').values({ uid: 'ada', nickname: 'A' }).execute()
    const users = { table: 'people', id: 'uid', idType: 'string' } as const
    const billing = createBilling({ database, users, stripe, processEvery: false })
    expect((await billing.migrate()).applied).toEqual(['0001-first-release'])
    expect((await billing.migrate()).applied).toEqual([])
    const user = await billing.user('ada')
    expect(user.attributes).toEqual({
      uid: 'ada',
      nickname: 'A',
      provider: null,
      provider_id: null,
      card_brand: null,
      card_last_four: null,
      card_expires: null,
      paypal_email: null,
      trial_ends_at: null,
    })
    await expect(billing.user('eve')).rejects.toThrow(UserNotFound)
    await billing.close()
    await drop()
  })

  it('is read by billing.user() with one query, and subscribed() sends one more', async () => {
    const { url, drop } = await createTestDatabase()
    const queries: string[] = []
    const database = await connect(url, { onQuery: (sql) => queries.push(sql) })
    await database.kysely.schema
      .createTable('users')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .execute()
    await database.kysely.insertInto('users').values({ id: 1 }).execute()
    const billing = createBilling({
      database,
      users: { table: 'users' },
      stripe,
      processEvery: false,
    })
    await billing.migrate()
    await billing.user(1)
    queries.length = 0
    const user = await billing.user(1)
    expect(queries).toHaveLength(1)
    await user.subscribed('main')
    expect(queries).toHaveLength(2)
    await billing.close()
    await database.close()
    await drop()
  })
})

describe('a generic trial, which has no subscription,', () => {
  it('needs no card, and makes onGenericTrial() true until the first subscription', async () => {
    const test = await start('stripe')
    const { user } = test
    expect(await user.onTrial()).toBe(false)
    await user.startGenericTrial(new Date(START.getTime() + 86_400_000))
    expect(await user.onTrial()).toBe(true)
    expect(await user.onGenericTrial()).toBe(true)
    expect(await user.subscribed('main')).toBe(false)
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    expect(await user.onGenericTrial()).toBe(false)
    expect(await user.onTrial()).toBe(true)
    await test.advance({ days: 1 })
    expect(await user.onTrial()).toBe(true)
    await test.advance({ seconds: 1 })
    expect(await user.onTrial()).toBe(false)
  })
})

describe('billing with Stripe and Braintree', () => {
  it('serves one user at Stripe and another at Braintree', async () => {
    const test = await start('stripe')
    const other = test.another({ defaultProvider: 'braintree' })
    const ada = test.user
    const eve = await other.user((await test.createUser()).id)
    await ada.newSubscription('main', 'monthly').create('pm_card_visa')
    await eve.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
    await test.advance({ months: 1, hours: 2 })
    const again = await test.billing.user(eve.id)
    expect(again.provider).toBe('braintree')
    expect(await again.subscribed('main')).toBe(true)
    expect(await ada.subscribed('main')).toBe(true)
    expect((await test.billing.sync()).drift).toEqual([])
    expect(await test.billing.check()).toEqual([])
  })

  it('has a check() that reports objects missing in Braintree’s control panel', async () => {
    const test = await start('braintree')
    const { config } = test.sandbox.braintree
    const billing = test.another({ braintree: { ...config, planCredit: 'none' } as never })
    expect(await billing.check()).toEqual([expect.stringContaining("no discount 'none'")])
  })

  it('has a check() that reports configured prices that do not exist', async () => {
    const test = await start('braintree')
    const { stripe, braintree } = test.sandbox
    const prices = ['monthly', 'gone']
    const billing = test.another({
      stripe: { secret: stripe.apiKey, webhookSecret: 'whsec', config: stripe.config, prices },
      braintree: { ...braintree.config, prices } as never,
    })
    expect(await billing.check()).toEqual([
      expect.stringContaining("Stripe has no price 'gone'"),
      expect.stringContaining("Braintree has no plan 'gone'"),
    ])
  })
})

describe('billing.ready()', () => {
  function logged() {
    const lines: string[] = []
    return { lines, logger: { error: () => undefined, warn: (line: string) => lines.push(line) } }
  }

  it('warns that the plan-credit discount is missing, and explains how to create it', async () => {
    const test = await start('braintree')
    const { lines, logger } = logged()
    const { config } = test.sandbox.braintree
    const billing = test.another({ braintree: { ...config, planCredit: 'none' } as never, logger })
    await billing.ready()
    await expect
      .poll(() => lines)
      .toEqual([expect.stringMatching(/no discount 'none': create it under Subscriptions/)])
  })

  it('succeeds if the providers are unavailable', async () => {
    const test = await start('braintree')
    const { lines, logger } = logged()
    const billing = test.another({ logger })
    await test.sandbox.close()
    await billing.ready()
    await expect.poll(() => lines).toHaveLength(2)
    expect(lines).toEqual(Array(2).fill('A payment provider could not be checked'))
    expect(await billing.findUser(test.user.id)).not.toBeNull()
  })
})

describe.each(PROVIDERS)('a subscription at $provider', ({ provider, card }) => {
  it('rejects swap() and previewSwap() with SubscriptionEnded after it has ended', async () => {
    const { user } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await subscription.cancelNow()
    await expect(subscription.swap('pro')).rejects.toThrow(SubscriptionEnded)
    await expect(subscription.previewSwap('pro')).rejects.toThrow(SubscriptionEnded)
  })

  it('is charged with a new tax percentage from the first renewal after syncTaxPercentage()', async () => {
    let percentage = 0
    const test = await start(provider, { taxPercentage: () => percentage })
    const subscription = await test.user.newSubscription('main', 'monthly').create(card)
    percentage = 20
    await subscription.syncTaxPercentage()
    await test.advance({ months: 1, hours: 2 })
    const [newest] = await test.user.invoicesIncludingPending()
    expect(newest?.rawTotal().amount).toBe(1200)
    expect(await test.user.taxPercentage()).toBe(20)
  })
})
