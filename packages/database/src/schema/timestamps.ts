import { sql } from 'kysely'
import { type Database, internalsOf } from '../database.ts'
import type { ColumnDefinition } from './columns.ts'

/**
 * Converts columns of milliseconds (`columns.instant`) to timestamps, in a migration, without
 * changing the times stored in them. Does nothing to columns that are timestamps already, and
 * nothing at all on databases that store timestamps as milliseconds. Can be called again after a
 * process died halfway.
 *
 * Processes that still write milliseconds cannot run at the same time: let the migration's
 * `needsOffline` return {@link holdsMilliseconds}.
 * @example
 * ```ts
 * await toTimestamps(database, 'notes', { read_at: columns.timestamp.nullable() })
 * ```
 */
export async function toTimestamps(
  database: Database,
  table: string,
  columns: Readonly<Record<string, ColumnDefinition>>,
): Promise<void> {
  const { timestamps } = database.dialect.schema
  if (!timestamps) return
  const names = await findMilliseconds(database, table, Object.keys(columns))
  if (names.length === 0) return
  const changed = names.map((name) => ({ name, isNullable: columns[name]?.isNullable ?? true }))
  await timestamps.convert(database.kysely, table, changed)
}

/** Whether these columns contain any value that {@link toTimestamps} would convert. */
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

/**
 * Finds the columns that hold milliseconds on a database with a timestamp type. Rejects columns
 * that hold neither milliseconds nor timestamps.
 */
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
        `The column ${table}.${name} has the type ${type} instead of ${timestamp}: it was not created by these migrations. Rename it or change its type, and migrate again.`,
      )
    }
    found.push(name)
  }
  return found
}
