import { sql } from 'kysely'
import type { Database } from '../database.ts'

/**
 * For a migration: from now on the column may be empty. Its values, type and default stay, and so do the table's indexes.
 * Does nothing where it may be empty already, and may be called again after a process died in it.
 *
 * Processes that always set the column go on beside it. Columns of the primary key cannot be empty.
 * @example
 * await dropNotNull(database, 'notes', 'user_id')
 */
export async function dropNotNull(
  database: Database,
  table: string,
  column: string,
): Promise<void> {
  const drop = database.dialect.schema.dropNotNull
  if (drop) {
    await database.transaction((tx) => drop(tx.kysely, table, column))
    return
  }
  await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} drop not null`.execute(
    database.kysely,
  )
}
