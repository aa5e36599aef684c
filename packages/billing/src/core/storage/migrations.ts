import {
  addColumn,
  type ColumnDefinitions,
  createClockTable,
  createIndex,
  createTable,
  type Database,
  dropNotNull,
  holdsMilliseconds,
  type Migration,
  type MigrationSet,
  toTimestamps,
} from '@tollgate/database'
import type { UserTable } from './owner-tables.ts'
import { queueTables } from './queue-tables.ts'
import { createBillingTables, userColumns } from './tables.ts'

/**
 * Returns the migrations of billing's tables. Migrations only go forward: append a new one for each
 * change, and never edit one that was released. With `otherOwners`, new tables accept owners that
 * are not users from the start; `ownerMigrations()` changes existing ones.
 */
export function billingMigrations({
  table,
  idType,
  otherOwners = false,
}: Required<Pick<UserTable, 'table' | 'idType'>> & {
  /** Whether owners that are not users are configured, too. @default false */
  readonly otherOwners?: boolean
}): MigrationSet {
  return {
    name: 'billing',
    migrations: [
      initial(table, async (database, columns) => {
        const userId = idType === 'string' ? columns.string(255) : columns.integer
        for (const { name, describe } of [...createBillingTables(idType), ...queueTables]) {
          const described = describe(columns)
          // `user_id` is only nullable once other owner types exist.
          const owner = described.columns.user_id && !otherOwners ? { user_id: userId } : {}
          const all = { ...described.columns, ...owner }
          await createTable(database, name, { ...described, columns: all })
        }
        await createClockTable(database)
      }),
    ],
  }
}

/**
 * Returns the migrations of another owner table, which gets the same columns as the user table.
 * They are a set of their own, because an owner table may be configured years after the other
 * migrations have run.
 */
export function ownerMigrations(
  type: string,
  { table }: Required<Pick<UserTable, 'table'>>,
): MigrationSet {
  return {
    name: `billing-${type}`,
    migrations: [
      initial(table, async (database) => {
        // Rows of these owners have no `user_id`.
        for (const owned of ['subscriptions', 'billing_operations']) {
          await dropNotNull(database, owned, 'user_id')
        }
      }),
    ],
  }
}

/**
 * Adds billing's columns to a table of the application where they are missing, then runs `addMore`.
 */
function initial(table: string, addMore: Migration['up']): Migration {
  return {
    id: '0001-first-release',
    async up(database, columns) {
      await addOwnerColumns(database, columns, table)
      await addMore(database, columns)
    },
    // A running process that writes milliseconds into an existing column would fail after the type
    // has changed.
    needsOffline: (database) => holdsMilliseconds(database, table, ['trial_ends_at']),
  }
}

async function addOwnerColumns(
  database: Database,
  columns: ColumnDefinitions,
  table: string,
): Promise<void> {
  const { columns: added } = userColumns.describe(columns)
  for (const [name, column] of Object.entries(added)) {
    await addColumn(database, table, name, column)
  }
  // An existing column of that name is rejected unless it can hold timestamps.
  await toTimestamps(database, table, { trial_ends_at: columns.timestamp.nullable() })
  await createIndex(database, {
    name: `${table}_by_customer`,
    table,
    columns: ['provider', 'provider_id'],
    unique: true,
  })
}
