import {
  addColumn,
  type Columns,
  createIndex,
  type Database,
  dropNotNull,
  holdsMilliseconds,
  type Migration,
  type MigrationSet,
  timestamp,
  toTimestamps,
} from '@tollgate/database'

const OWNED = ['subscriptions', 'billing_operations']

/** Other owners than users say whose their rows are in two columns of their own. */
export function ownersMigration(userTable: string): Migration {
  return {
    id: '0005-owners',
    async up(database, columns) {
      for (const table of OWNED) {
        await addColumn(database, table, 'owner_type', columns.id.nullable())
        await addColumn(database, table, 'owner_id', columns.string(255).nullable())
      }
      await createIndex(database, {
        name: 'subscriptions_by_owner',
        table: 'subscriptions',
        columns: ['owner_type', 'owner_id', 'name', 'created_at'],
      })
      await createIndex(database, {
        name: 'billing_operations_by_owner',
        table: 'billing_operations',
        columns: ['owner_type', 'owner_id', 'kind', 'fingerprint'],
        unique: true,
      })
      await addColumn(database, userTable, 'card_expires', columns.string(7).nullable())
    },
  }
}

/**
 * What billing adds to another table of the application whose rows are billed: the same columns that users have. A set of
 * its own, because such a table may be named years after the other migrations have run.
 */
export function ownerMigrations(
  type: string,
  owners: {
    readonly table: string
    /** The column with the id. Default `id`. */
    readonly id?: string
    /** Type of that column. Default `integer`. */
    readonly idType?: 'integer' | 'string'
  },
): MigrationSet {
  const { table } = owners
  return {
    name: `billing-${type}`,
    migrations: [
      {
        id: '0001-columns',
        async up(database, columns) {
          await addOwnerColumns(database, columns, table)
          await createIndex(database, {
            name: `${table}_by_customer`,
            table,
            columns: ['provider', 'provider_id'],
            unique: true,
          })
          // Rows of such owners have no `user_id`. Where only users are billed, it is never empty.
          for (const owned of OWNED) await dropNotNull(database, owned, 'user_id')
        },
        // As for users: whoever writes milliseconds there cannot go on.
        needsOffline: (database) => holdsMilliseconds(database, table, ['trial_ends_at']),
      },
      {
        id: '0002-ownership',
        up: (database) => fillCustomers(database, type, owners),
      },
    ],
  }
}

const BATCH = 100

/** Fills in the customers without a join, like the migration of users: ids of owners need not be text. */
async function fillCustomers(
  { kysely }: Database,
  type: string,
  { table, id = 'id', idType = 'integer' }: Parameters<typeof ownerMigrations>[1],
): Promise<void> {
  const left = () =>
    kysely
      .updateTable('subscriptions')
      .where('owner_type', '=', type)
      .where('provider_customer', 'is', null)
  for (let after = ''; ; ) {
    const found = await kysely
      .selectFrom('subscriptions')
      .select('owner_id')
      .distinct()
      .where('owner_type', '=', type)
      .where('provider_customer', 'is', null)
      .where('owner_id', '>', after)
      .orderBy('owner_id')
      .limit(BATCH)
      .execute()
    for (const { owner_id: ownerId } of found) {
      const owner = await kysely
        .selectFrom(table)
        .select(['provider', 'provider_id'])
        .where(id, '=', idType === 'integer' ? Number(ownerId) : ownerId)
        .executeTakeFirst()
      const theirs = () => left().where('owner_id', '=', ownerId)
      if (owner?.provider_id) {
        await theirs()
          .set({ provider_customer: owner.provider_id })
          .where('provider', '=', owner.provider)
          .execute()
      }
      if (!owner) await theirs().set({ provider_customer: '' }).execute()
    }
    after = found.at(-1)?.owner_id ?? after
    if (found.length < BATCH) break
  }
  await left()
    .set({ provider_customer: '' })
    .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', timestamp(new Date()))]))
    .execute()
}

async function addOwnerColumns(database: Database, columns: Columns, table: string): Promise<void> {
  const added = {
    provider: columns.id,
    provider_id: columns.string(255),
    card_brand: columns.string(255),
    card_last_four: columns.string(255),
    card_expires: columns.string(7),
    paypal_email: columns.string(255),
    trial_ends_at: columns.timestamp,
  }
  for (const [name, column] of Object.entries(added)) {
    await addColumn(database, table, name, column.nullable())
  }
  // One of that name that was there already is refused, unless it can hold what it must.
  await toTimestamps(database, table, { trial_ends_at: columns.timestamp.nullable() })
}
