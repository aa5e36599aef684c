import { sql } from 'kysely'
import type { AnyKysely } from '../dialect.ts'

/**
 * `modify column` forgets whatever it does not repeat: the collation, a default, a check. So the server's own
 * line of the column is repeated, without the two words.
 */
export async function dropNotNull(db: AnyKysely, table: string, column: string): Promise<void> {
  const { rows } = await sql<Record<string, string>>`show create table ${sql.table(table)}`.execute(
    db,
  )
  const lines = rows[0]?.['Create Table']?.split('\n').map((line) => line.trim()) ?? []
  const name = `\`${column.replaceAll('`', '``')}\``
  const line = lines.find((each) => each.startsWith(`${name} `))
  if (line === undefined) throw new TypeError(`There is no column ${table}.${column}`)
  // The server would say yes and leave it as it is.
  if (lines.some((each) => each.startsWith('PRIMARY KEY') && each.includes(name))) {
    throw new TypeError(`${table}.${column} is in the primary key: it stays set`)
  }
  const changed = withoutNotNull(line.replace(/,$/, ''))
  if (changed === null) return
  await sql`alter table ${sql.table(table)} modify column ${sql.raw(changed)}`.execute(db)
}

const QUOTED_OR_NOT_NULL = /'(?:[^'\\]|''|\\.)*'|`(?:[^`]|``)*`|\([^()]*\)| NOT NULL\b/g

/** The same line of `show create table` for a column that may be empty; null when it may be already. */
export function withoutNotNull(line: string): string | null {
  for (const { 0: part, index } of line.matchAll(QUOTED_OR_NOT_NULL)) {
    if (part !== ' NOT NULL') continue
    // Without the word a `timestamp` of older servers would not be nullable.
    return `${line.slice(0, index)} NULL${line.slice(index + part.length)}`
  }
  return null
}
