import { describe, expect, it } from 'vitest'
import { PROVIDERS, start } from '../support.ts'

async function columnsOf(table: string) {
  const { database } = await start('stripe', { webhooks: false })
  const tables = await database.kysely.introspection.getTables()
  const columns = tables.find(({ name }) => name === table)?.columns ?? []
  return new Map(columns.map((column) => [column.name, column]))
}

const isText = (type: string) => /char|text/i.test(type)
const isInteger = (type: string) => /int/i.test(type)
/** SQLite has no timestamp type; there it is milliseconds. */
const isTimestamp = (type: string) =>
  ({ sqlite: 'integer', postgres: 'timestamptz', mariadb: 'datetime' })[
    process.env.TEST_DATABASE ?? ''
  ] === type.toLowerCase()

describe('the columns added to the user record', () => {
  it.each([
    ['provider_id', isText],
    ['card_brand', isText],
    ['card_last_four', isText],
    ['trial_ends_at', isTimestamp],
    ['paypal_email', isText],
  ])('include %s, which may be null', async (name, isType) => {
    const column = (await columnsOf('users')).get(name)
    expect(column?.isNullable).toBe(true)
    expect(isType(column?.dataType ?? '')).toBe(true)
  })
})

describe('the columns of the subscription record', () => {
  it.each([
    ['id', isInteger, false],
    ['user_id', isInteger, false],
    ['name', isText, false],
    ['provider_id', isText, false],
    ['provider_plan', isText, false],
    ['quantity', isInteger, false],
    ['trial_ends_at', isTimestamp, true],
    ['ends_at', isTimestamp, true],
    ['created_at', isTimestamp, false],
    ['updated_at', isTimestamp, false],
  ])('include %s with its specified type', async (name, isType, isNullable) => {
    const column = (await columnsOf('subscriptions')).get(name)
    expect(isType(column?.dataType ?? '')).toBe(true)
    expect(column?.isNullable).toBe(isNullable)
  })

  it('include an id that increases with each row', async () => {
    const { user } = await start('stripe', { webhooks: false })
    const first = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const second = await user.newSubscription('other', 'monthly').create()
    expect(second.id).toBeGreaterThan(first.id)
  })
})

describe.each(PROVIDERS)('the values stored at $provider', ({ provider, card, brand }) => {
  it('include the customer, the card and the subscription', async () => {
    const test = await start(provider, { webhooks: false })
    const { user, database, sandbox } = test
    await user.newSubscription('main', 'monthly').trialDays(3).create(card)
    const row = await database.kysely.selectFrom('users').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      provider,
      provider_id: user.providerId,
      card_brand: brand,
      card_last_four: expect.stringMatching(/^\d{4}$/),
      trial_ends_at: null,
      paypal_email: null,
    })
    const held = await database.kysely
      .selectFrom('subscriptions')
      .selectAll()
      .executeTakeFirstOrThrow()
    const [made] =
      provider === 'stripe' ? sandbox.stripe.subscriptions() : sandbox.braintree.subscriptions()
    expect(held).toMatchObject({ name: 'main', provider_plan: 'monthly', provider_id: made?.id })
    expect(Number(held.quantity)).toBe(1)
    expect(Number(held.trial_ends_at)).toBeGreaterThan(sandbox.clock.nowMs())
    expect(held.ends_at).toBeNull()
  })

  it('include the id, date and total of an invoice', async () => {
    const test = await start(provider, { webhooks: false })
    await test.user.newSubscription('main', 'monthly').create(card)
    const [invoice] = await test.user.invoicesIncludingPending()
    expect(invoice?.id).toEqual(expect.any(String))
    expect(invoice?.date()).toEqual(test.sandbox.clock.now())
    expect(invoice?.total()).toBe('$10.00')
  })
})

describe('the discount at Braintree that holds the credit for unused time', () => {
  it('has its amount overridden each time it is applied', async () => {
    const { user, sandbox } = await start('braintree', { webhooks: false })
    sandbox.braintree.defineDiscount({
      id: 'plan-credit',
      amount: 1,
      numberOfBillingCycles: 1,
    })
    const monthly = await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
    const yearly = await monthly.swap('yearly')
    const { discounts } = sandbox.braintree.subscription(yearly.providerId) ?? {}
    expect(discounts).toMatchObject([{ id: 'plan-credit', amount: 1000 }])
  })
})
