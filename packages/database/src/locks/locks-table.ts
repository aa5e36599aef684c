import type { Database } from '../database.ts'
import { createColumns } from '../schema/columns.ts'
import { createTable, hasTable } from '../schema/tables.ts'

/**
 * Where locks are rows. MySQL's own named locks are known to one server only, and on a Galera cluster
 * each node is one; a row that two nodes write at once fails on one of them.
 */
export const LOCKS = 'tollgate_locks'

/** Milliseconds; a migration may rebuild a large table. */
export const WAIT_FOR_LOCK = 300_000

/** Any number of processes may do this at once: the server runs `if not exists` one by one. */
export async function createLocksTable(database: Database): Promise<void> {
  // Asked first, for those who may not create tables.
  if (await hasTable(database, LOCKS)) return
  const columns = createColumns(database)
  await createTable(database, LOCKS, {
    columns: {
      name: columns.id,
      /** Grows with each transaction that held the name. */
      turns: columns.integer,
      holder: columns.string(50).nullable(),
      held_until: columns.instant.nullable(),
    },
    primaryKey: ['name'],
  })
}
