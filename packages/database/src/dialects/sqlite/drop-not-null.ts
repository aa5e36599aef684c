import { sql } from 'kysely'
import type { AnyKysely } from '../dialect.ts'

interface ColumnInfo {
  readonly name: string
  readonly notnull: number
  readonly pk: number
}

/**
 * Makes a column nullable by editing the table's definition.
 *
 * SQLite has no statement for this. The usual way, a new table that replaces the old one, could
 * delete rows of other tables: dropping the old table deletes its rows first, which cascades to
 * tables that refer to them by a foreign key with `on delete cascade`, and foreign keys cannot be
 * switched off inside a transaction. Instead, `not null` is removed from the statement that SQLite
 * stores for the table, as its documentation describes for constraints that do not change the data
 * on disk (https://sqlite.org/lang_altertable.html#otheralter). Rows, indexes, triggers, views and
 * counters stay untouched, the time does not depend on the size of the table, and as part of a
 * transaction it is atomic.
 */
export async function dropNotNull(db: AnyKysely, table: string, column: string): Promise<void> {
  const before = await readColumns(db, table)
  const found = before.find(({ name }) => name === column)
  if (!found) throw new TypeError(`There is no column ${table}.${column}`)
  if (found.notnull === 0) return
  if (found.pk > 0)
    throw new TypeError(`${table}.${column} is part of the primary key and cannot be made nullable`)

  const statement = await readStatement(db, table)
  const changed = withoutNotNull(statement, column)
  const version = await readVersion(db)
  await sql`pragma writable_schema = on`.execute(db)
  await sql`update sqlite_master set sql = ${changed} where type = 'table' and name = ${table}`.execute(
    db,
  )
  await sql`pragma writable_schema = off`.execute(db)
  // Every connection, including this one, reloads the schema when this number changes.
  await sql`pragma schema_version = ${sql.lit(version + 1)}`.execute(db)

  const expected = before.map((each) => (each === found ? { ...each, notnull: 0 } : each))
  const after = await readColumns(db, table)
  if (JSON.stringify(after) !== JSON.stringify(expected)) {
    throw new Error(`Making ${column} nullable did not change the table as expected: ${changed}`)
  }
}

async function readColumns(db: AnyKysely, table: string): Promise<readonly ColumnInfo[]> {
  const { rows } = await sql<ColumnInfo>`select * from pragma_table_xinfo(${table})`.execute(db)
  return rows
}

async function readStatement(db: AnyKysely, table: string): Promise<string> {
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_master
    where type = 'table' and name = ${table}`.execute(db)
  return rows[0]?.sql ?? ''
}

async function readVersion(db: AnyKysely): Promise<number> {
  const { rows } = await sql<{ schema_version: number }>`pragma schema_version`.execute(db)
  const version = rows[0]?.schema_version
  if (version === undefined) throw new Error('SQLite returned no schema_version')
  return version
}

const TOKENS =
  /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[\w$\u0080-\uffff]+|[\s\S]/g
const BLANK = /^(?:\s|--|\/\*)/
const QUOTED = /^["`['](.*)["`\]']$/s

/** Removes `not null` from one column of a `create table` statement. */
export function withoutNotNull(statement: string, column: string): string {
  const tokens = statement.match(TOKENS) ?? []
  let depth = 0
  /** Whether the next word is the name of a column, and whether our column's name was just read. */
  let begins = false
  let isOurs = false
  for (const [i, token] of tokens.entries()) {
    if (BLANK.test(token)) continue
    if (token === '(') depth += 1
    if (token === ')') depth -= 1
    if ((token === '(' || token === ',') && depth === 1) {
      begins = true
      isOurs = false
    } else if (begins) {
      begins = false
      isOurs = unquote(token) === column
    } else if (isOurs && depth === 1 && token.toLowerCase() === 'not') {
      const next = tokens.findIndex((each, at) => at > i && !BLANK.test(each))
      if (tokens[next]?.toLowerCase() !== 'null') continue
      return [...tokens.slice(0, i), ...tokens.slice(next)].join('')
    }
  }
  throw new Error(`No "not null" of ${column} was found in: ${statement}`)
}

function unquote(token: string): string {
  const inside = QUOTED.exec(token)?.[1]
  return inside === undefined ? token : inside.replace(/(["`'])\1/g, '$1')
}
