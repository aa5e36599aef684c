import {
  addColumn,
  createIndex,
  createTable,
  type Database,
  type Migration,
  timestamp,
} from '@tollgate/database'
import { sql } from 'kysely'

/**
 * Adds the provider's customer to subscriptions and usage. Existing subscriptions get the customer of their owner. A live one
 * whose owner has no customer, and every one whose owner is gone, belongs to no owner from now on: the id may have been reused.
 */
export function ownershipMigration(users: {
  readonly table: string
  readonly id: string
}): Migration {
  return {
    id: '0014-ownership',
    async up(database, columns) {
      const customer = columns.string(255).nullable()
      await addColumn(database, 'subscriptions', 'provider_customer', customer)
      await createIndex(database, {
        name: 'subscriptions_by_customer',
        table: 'subscriptions',
        columns: ['provider', 'provider_customer'],
      })
      await addColumn(database, 'billing_usage', 'provider_customer', customer)
      await createIndex(database, {
        name: 'billing_usage_by_owner',
        table: 'billing_usage',
        columns: ['owner_type', 'owner_id', 'reference'],
      })
      await createTable(database, 'billing_transfers', {
        columns: {
          id: columns.id,
          provider: columns.id,
          provider_customer: columns.string(255),
          from_type: columns.id,
          from_id: columns.string(255),
          to_type: columns.id,
          to_id: columns.string(255),
          had_trial: columns.flag,
          created_at: columns.instant,
        },
        primaryKey: ['id'],
        indexes: { billing_transfers_by_sender: ['from_type', 'from_id', 'created_at'] },
      })
      await fillCustomers(database, users)
    },
  }
}

/** The place of a `sync()` that has not come to its end. */
export const syncRunsMigration: Migration = {
  id: '0015-sync-runs',
  async up(database, columns) {
    await createTable(database, 'billing_sync_runs', {
      columns: {
        name: columns.id,
        run: columns.id,
        place: columns.text,
        started_at: columns.instant,
      },
      primaryKey: ['name'],
    })
  },
}

async function fillCustomers(
  { kysely }: Database,
  { table, id }: { readonly table: string; readonly id: string },
): Promise<void> {
  const owner = sql`select provider_id from ${sql.table(table)} as owner
    where owner.${sql.ref(id)} = subscriptions.user_id and owner.provider = subscriptions.provider`
  const left = () =>
    kysely
      .updateTable('subscriptions')
      .where('provider_customer', 'is', null)
      .where('user_id', 'is not', null)
  await left()
    .set({ provider_customer: sql`(${owner})` })
    .execute()
  const isThere = sql`exists (select 1 from ${sql.table(table)} as owner
    where owner.${sql.ref(id)} = subscriptions.user_id)`
  await left()
    .set({ provider_customer: '' })
    .where((eb) =>
      eb.or([
        eb('ends_at', 'is', null),
        eb('ends_at', '>', timestamp(new Date())),
        sql<boolean>`not ${isThere}`,
      ]),
    )
    .execute()
}
