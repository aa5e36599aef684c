import type { Database } from '../database.ts'
import { createColumns } from '../schema/columns.ts'
import { createTable, hasTable } from '../schema/tables.ts'

/**
 * Table of locks, one row each. MySQL's own named locks exist on one server only, and each node of
 * a Galera cluster is a server; of two nodes that write the same row at once, one fails.
 */
export const LOCKS = 'tollgate_locks'

/** Milliseconds to wait for a lock. A migration may rebuild a large table. */
export const WAIT_FOR_LOCK = 300_000

/** Creates the table. Safe for concurrent processes: the server runs `if not exists` one by one. */
export async function createLocksTable(database: Database): Promise<void> {
  // Checked first, for database users that lack the permission to create tables.
  if (await hasTable(database, LOCKS)) return
  const columns = createColumns(database)
  await createTable(database, LOCKS, {
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
