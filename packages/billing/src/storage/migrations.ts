import {
  addColumn,
  createClockTable,
  createIndex,
  createTable,
  holdsMilliseconds,
  type MigrationSet,
  toTimestamps,
} from '@tollgate/database'
import { ownersMigration } from './migrations/owners.ts'
import { ownershipMigration, syncRunsMigration } from './migrations/ownership.ts'
import {
  eventsMigration,
  usageAskedMigration,
  usageBatchesMigration,
  usageMigration,
} from './migrations/queues.ts'
import {
  codeAttemptsMigration,
  disputesMigration,
  itemsMigration,
} from './migrations/subscriptions.ts'
import type { UserTable } from './user-table.ts'

/** Forward only. A change of shape is a new entry at the end; what has run is never edited. */
export function billingMigrations(
  users: Required<Pick<UserTable, 'table' | 'idType'>> & Pick<UserTable, 'id'>,
): MigrationSet {
  return {
    name: 'billing',
    migrations: [
      {
        id: '0001-user-columns',
        async up(database, columns) {
          const added = {
            provider: columns.id,
            provider_id: columns.string(255),
            card_brand: columns.string(255),
            card_last_four: columns.string(255),
            paypal_email: columns.string(255),
            trial_ends_at: columns.instant,
          }
          for (const [name, column] of Object.entries(added)) {
            await addColumn(database, users.table, name, column.nullable())
          }
          await createIndex(database, {
            name: `${users.table}_by_customer`,
            table: users.table,
            columns: ['provider', 'provider_id'],
            unique: true,
          })
        },
      },
      {
        id: '0002-tables',
        async up(database, columns) {
          const userId = users.idType === 'string' ? columns.string(255) : columns.integer
          await createTable(database, 'subscriptions', {
            columns: {
              id: columns.counter,
              user_id: userId,
              name: columns.string(255),
              provider: columns.id,
              provider_id: columns.string(255),
              provider_plan: columns.string(255),
              provider_status: columns.id,
              quantity: columns.integer,
              trial_ends_at: columns.instant.nullable(),
              ends_at: columns.instant.nullable(),
              created_at: columns.instant,
              updated_at: columns.instant,
            },
            unique: { subscriptions_by_provider: ['provider', 'provider_id'] },
            indexes: { subscriptions_by_user: ['user_id', 'name', 'created_at'] },
          })
          await createTable(database, 'billing_webhooks', {
            columns: {
              id: columns.counter,
              provider: columns.id,
              event_id: columns.string(255),
              type: columns.string(255),
              payload: columns.text,
              state: columns.id,
              attempts: columns.integer,
              due_at: columns.instant,
              last_error: columns.text.nullable(),
              received_at: columns.instant,
              finished_at: columns.instant.nullable(),
            },
            unique: { billing_webhooks_by_event: ['provider', 'event_id'] },
            indexes: { billing_webhooks_by_due: ['state', 'due_at'] },
          })
          await createTable(database, 'billing_locks', {
            columns: {
              name: columns.string(255),
              holder: columns.id,
              expires_at: columns.instant,
            },
            primaryKey: ['name'],
          })
          await createTable(database, 'billing_operations', {
            columns: {
              id: columns.id,
              user_id: userId,
              kind: columns.id,
              fingerprint: columns.id,
              request: columns.text,
              name: columns.string(255).nullable(),
              created_at: columns.instant,
            },
            primaryKey: ['id'],
            unique: { billing_operations_by_intent: ['user_id', 'kind', 'fingerprint'] },
          })
        },
      },
      {
        id: '0003-taxes',
        async up(database, columns) {
          await createTable(database, 'billing_taxes', {
            columns: {
              provider: columns.id,
              provider_id: columns.string(255),
              since: columns.instant,
              tax: columns.integer,
              net: columns.integer,
            },
            primaryKey: ['provider', 'provider_id', 'since'],
          })
        },
      },
      {
        id: '0004-timestamps',
        async up(database, columns) {
          const empty = columns.timestamp.nullable()
          await toTimestamps(database, users.table, { trial_ends_at: empty })
          await toTimestamps(database, 'subscriptions', {
            trial_ends_at: empty,
            ends_at: empty,
            created_at: columns.timestamp,
            updated_at: columns.timestamp,
          })
        },
        // Older processes write milliseconds, and on MariaDB what they compare with them finds nothing.
        needsOffline: async (database) =>
          (await holdsMilliseconds(database, users.table, ['trial_ends_at'])) ||
          (await holdsMilliseconds(database, 'subscriptions', ['created_at', 'updated_at'])),
      },
      // These only add: whoever does not know of them goes on beside.
      ownersMigration(users.table),
      itemsMigration,
      disputesMigration,
      codeAttemptsMigration,
      usageMigration,
      eventsMigration,
      usageAskedMigration,
      usageBatchesMigration,
      { id: '0013-clock', up: createClockTable },
      ownershipMigration({ table: users.table, id: users.id ?? 'id' }),
      syncRunsMigration,
    ],
  }
}
