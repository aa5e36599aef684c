import { sql } from 'kysely'
import type { AnyKysely } from '../dialect.ts'

/**
 * Makes a column nullable. `modify column` drops everything that it does not repeat (collation,
 * default, check), so the statement repeats the column's definition as the server prints it,
 * without `not null`.
 */
export async function dropNotNull(db: AnyKysely, table: string, column: string): Promise<void> {
  const { rows } = await sql<Record<string, string>>`show create table ${sql.table(table)}`.execute(
    db,
  )
  const lines = rows[0]?.['Create Table']?.split('\n').map((line) => line.trim()) ?? []
  const name = `\`${column.replaceAll('`', '``')}\``
  const line = lines.find((each) => each.startsWith(`${name} `))
  if (line === undefined) throw new TypeError(`There is no column ${table}.${column}`)
  // The server would accept the statement and leave the column as it is.
  if (lines.some((each) => each.startsWith('PRIMARY KEY') && each.includes(name))) {
    throw new TypeError(`${table}.${column} is part of the primary key and cannot be made nullable`)
  }
  const changed = withoutNotNull(line.replace(/,$/, ''))
  if (changed === null) return
  await sql`alter table ${sql.table(table)} modify column ${sql.raw(changed)}`.execute(db)
}

const QUOTED_OR_NOT_NULL = /'(?:[^'\\]|''|\\.)*'|`(?:[^`]|``)*`|\([^()]*\)| NOT NULL\b/g

/**
 * Removes `not null` from a column's line in the result of `show create table`. Returns `null` if
 * the column is nullable already.
 */
export function withoutNotNull(line: string): string | null {
  for (const { 0: part, index } of line.matchAll(QUOTED_OR_NOT_NULL)) {
    if (part !== ' NOT NULL') continue
    // Older servers make a `timestamp` column nullable only if `NULL` is written out.
    return `${line.slice(0, index)} NULL${line.slice(index + part.length)}`
  }
  return null
}
