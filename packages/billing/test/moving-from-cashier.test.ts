import type { Database } from '@tollgate/database'
import { describe, expect, it } from 'vitest'
import { importFromDocs } from '../../../test-support/docs-module.ts'
import type { Billing, DriftReport, ProviderName } from '../src/index.ts'
import { PROVIDERS, start } from './support.ts'

interface Guide {
  moveFromCashier(
    database: Database,
    billing: Billing,
    provider: ProviderName,
  ): Promise<DriftReport>
}

const at = (text: string) => (text === '' ? null : text)

/** Converts the rows to the tables that Cashier would have written. */
async function convertToCashierTables({ kysely, dialect }: Database, provider: ProviderName) {
  const [user] = await kysely.selectFrom('users').selectAll().execute()
  const [subscription] = await kysely.selectFrom('subscriptions').selectAll().execute()
  await kysely.schema.dropTable('subscriptions').execute()
  await kysely.schema.dropTable('users').execute()
  await kysely.deleteFrom('tollgate_migrations').execute()
  const moment = dialect.name === 'mysql' ? 'datetime' : 'timestamp'
  const id = dialect.name === 'sqlite' ? 'integer' : 'bigint'
  await kysely.schema
    .createTable('users')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('email', 'varchar(255)')
    .addColumn(`${provider}_id`, 'varchar(255)')
    .addColumn('card_brand', 'varchar(255)')
    .addColumn('card_last_four', 'varchar(255)')
    .addColumn('trial_ends_at', moment)
    .execute()
  await kysely.schema
    .createTable('subscriptions')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('user_id', 'integer')
    .addColumn('name', 'varchar(255)')
    .addColumn(`${provider}_id`, 'varchar(255)')
    .addColumn(`${provider}_plan`, 'varchar(255)')
    .addColumn('quantity', 'integer')
    .addColumn('trial_ends_at', moment)
    .addColumn('ends_at', moment)
    .addColumn('created_at', moment)
    .addColumn('updated_at', moment)
    .execute()
  await kysely
    .insertInto('users')
    .values([
      {
        id: user?.id,
        email: user?.email,
        [`${provider}_id`]: user?.provider_id,
        card_brand: user?.card_brand,
        card_last_four: user?.card_last_four,
        trial_ends_at: at('2026-03-01 12:30:00'),
      },
      { id: 99, email: 'never@example.com', trial_ends_at: at('') },
    ])
    .execute()
  await kysely
    .insertInto('subscriptions')
    .values({
      id: 5,
      user_id: user?.id,
      name: 'gold',
      [`${provider}_id`]: subscription?.provider_id,
      [`${provider}_plan`]: subscription?.provider_plan,
      quantity: 1,
      created_at: '2025-12-01 08:00:00',
    })
    .execute()
}

describe.each(PROVIDERS)('an application that used Cashier on $provider', ({ provider, card }) => {
  it('keeps its customers, subscriptions and trials when it migrates as the guide describes', async () => {
    const test = await start(provider)
    const { database, user } = test
    await user.newSubscription('main', 'monthly').create(card)
    await test.settle()
    await convertToCashierTables(database, provider)

    const billing = test.another()
    const { moveFromCashier } = await importFromDocs<Guide>(
      'docs/guides/coming-from-laravel.md',
      'moveFromCashier',
    )
    const report = await moveFromCashier(database, billing, provider)
    expect([report.users, report.failures]).toEqual([1, []])
    expect((await billing.sync({ dryRun: true })).drift).toEqual([])

    const moved = await billing.user(user.id)
    expect(moved.trialEndsAt).toEqual(new Date('2026-03-01T12:30:00Z'))
    expect(moved.cardLastFour).toBe(user.cardLastFour)
    expect(await moved.subscribed('gold', 'monthly')).toBe(true)
    const subscription = await moved.subscription('gold')
    expect(subscription.createdAt).toEqual(new Date('2025-12-01T08:00:00Z'))
    expect((await subscription.cancel()).onGracePeriod()).toBe(true)
    const other = await billing.user(99)
    expect([other.providerId, other.trialEndsAt]).toEqual([null, null])
  })
})
