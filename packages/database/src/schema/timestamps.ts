import { sql } from 'kysely'
import { type Database, internalsOf } from '../database.ts'
import type { Column } from './columns.ts'

/**
 * For a migration: turns columns of milliseconds (`columns.instant`) into timestamps, and keeps every moment.
 * Does nothing to those that are timestamps already, and nothing at all where timestamps are milliseconds.
 * May be called again after a process died in it.
 *
 * Processes that still write milliseconds cannot go on beside it: let the migration's `needsOffline` ask
 * {@link holdsMilliseconds}.
 * @example
 * await toTimestamps(database, 'notes', { read_at: columns.timestamp.nullable() })
 */
export async function toTimestamps(
  database: Database,
  table: string,
  columns: Readonly<Record<string, Column>>,
): Promise<void> {
  const { timestamps } = database.dialect.schema
  if (!timestamps) return
  const names = await findMilliseconds(database, table, Object.keys(columns))
  if (names.length === 0) return
  const changed = names.map((name) => ({ name, isNullable: columns[name]?.isNullable ?? true }))
  await timestamps.convert(database.kysely, table, changed)
}

/** Whether there is any value that {@link toTimestamps} would change in these columns. */
export async function holdsMilliseconds(
  database: Database,
  table: string,
  columns: readonly string[],
): Promise<boolean> {
  const names = await findMilliseconds(database, table, columns)
  if (names.length === 0) return false
  const isSet = sql.join(
    names.map((name) => sql`${sql.ref(name)} is not null`),
    sql` or `,
  )
  const { rows } = await sql`select 1 from ${sql.table(table)} where ${isSet} limit 1`.execute(
    database.kysely,
  )
  return rows.length > 0
}

/** Those that hold milliseconds where timestamps are something else. Refuses what is neither. */
async function findMilliseconds(
  database: Database,
  table: string,
  columns: readonly string[],
): Promise<string[]> {
  const { timestamps, types } = database.dialect.schema
  const found: string[] = []
  if (!timestamps) return found
  for (const name of columns) {
    const { rows } = await timestamps.findType(table, name).execute(database.kysely)
    const type = rows[0]?.type
    if (type === undefined || timestamps.isTimestamp(type)) continue
    if (!timestamps.isInteger(type)) {
      const { timestamp } = types(internalsOf(database).engine)
      throw new TypeError(
        `The column ${table}.${name} is a ${type} and should be a ${timestamp}: somebody else has made it. Rename it or change its type, and migrate again.`,
      )
    }
    found.push(name)
  }
  return found
}
