import { type Kysely, sql } from 'kysely'
import type { AnyTables } from '../any-tables.ts'
import { type Database, internals } from '../database.ts'
import type { Dialect } from '../dialects/engine.ts'
import { toJsonRows } from '../values.ts'
import { insertIfAbsent } from '../writes/portable.ts'
import { gather } from './gather.ts'

type Row = Readonly<Record<string, unknown>>
type AnyKysely = Kysely<AnyTables>
type Insert = (row: Row) => Promise<boolean>

export interface InsertTarget {
  readonly table: string
  /** Those that every row has. */
  readonly columns: readonly string[]
  /** The unique key. */
  readonly key: readonly string[]
}

/**
 * `insertIfAbsent()` for a table that many callers insert into at the same time. A row is durable when
 * its promise resolves, as ever, but those that come together share one statement or one commit.
 */
export function insertTogether<T extends object>(
  database: Database,
  target: InsertTarget,
): (row: T) => Promise<boolean> {
  const alone: Insert = (row) => insertIfAbsent(database, target.table, row)
  const together = howTogether[database.dialect]?.(database, target)
  const { patience } = database[internals].engine
  const insert = together ? gather({ alone, together, patience }) : alone
  return insert as (row: object) => Promise<boolean>
}

type InsertMany = (rows: readonly Row[]) => Promise<boolean[]>

const howTogether: Record<
  Dialect,
  ((database: Database, target: InsertTarget) => InsertMany) | null
> = {
  sqlite: inOneTransaction,
  postgres: inOneStatement,
  mysql: null,
}

/** SQLite waits for the disk at each commit. */
function inOneTransaction(database: Database, { table }: InsertTarget): InsertMany {
  return (rows) =>
    database.transaction(async (tx) => {
      const added: boolean[] = []
      for (const row of rows) added.push(await insertIfAbsent(tx, table, row))
      return added
    })
}

/** A statement costs Node and Postgres more than the rows it inserts. */
function inOneStatement(database: Database, { table, columns, key }: InsertTarget): InsertMany {
  const names = (list: readonly string[]) => sql.join(list.map((column) => sql.ref(column)))
  const insert = database.statement<{ rows: string }, Row>((db, param) =>
    (db as AnyKysely)
      .insertInto(table)
      .columns([...columns])
      // In the order of the key, so that two processes cannot wait for each other.
      .expression(
        sql`select ${names(columns)} from json_populate_recordset(null::${sql.table(table)}, ${param('rows')}) order by ${names(key)}`,
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning([...key]),
  )
  const nameOf = (row: Row) => JSON.stringify(key.map((column) => row[column]))
  return async (rows) => {
    const inserted = await insert({ rows: toJsonRows(rows) })
    if (inserted.rows.length === rows.length) return rows.map(() => true)
    const left = new Set(inserted.rows.map(nameOf))
    // Of equal rows in one statement only one was inserted.
    return rows.map((row) => left.delete(nameOf(row)))
  }
}
