import type { Database } from '../database.ts'
import { createColumnDefinitions } from '../schema/columns.ts'
import { createTable, hasTable } from '../schema/tables.ts'

/**
 * Name of the table of locks, which has one row for each lock. MySQL's own named locks are not
 * enough in a Galera cluster, because they exist on one server only. Rows protect the whole
 * cluster: if two servers write the same row at the same time, one of the writes fails.
 */
export const LOCKS_TABLE = 'tollgate_locks'

/** Milliseconds to wait for a lock. Long enough for a migration that rebuilds a large table. */
export const LOCK_WAIT_MS = 300_000

/**
 * Creates the table of locks. Several processes may call this at the same time, because the server
 * runs statements with `if not exists` one after the other.
 */
export async function createLocksTable(database: Database): Promise<void> {
  // Checked first, for database users that lack the permission to create tables.
  if (await hasTable(database, LOCKS_TABLE)) return
  const columns = createColumnDefinitions(database)
  await createTable(database, LOCKS_TABLE, {
    columns: {
      name: columns.id,
      /** Incremented by each transaction that held the lock. */
      turns: columns.integer,
      holder: columns.string(50).nullable(),
      held_until: columns.instant.nullable(),
    },
    primaryKey: ['name'],
  })
}
