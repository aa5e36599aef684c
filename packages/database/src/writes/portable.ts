import { type Database, internalsOf, type Statement } from '../database.ts'
import type { DeleteBatch, ParamBuilder } from '../definitions.ts'
import type { AnyKysely, InsertQuery } from '../dialects/dialect.ts'
import { prepareStatement, type StatementOptions } from '../statements/statement.ts'

type Row = Readonly<Record<string, unknown>>

/** Inserts the row unless one with an equal unique key is there; says whether it did. */
export async function insertIfAbsent(
  database: Database,
  table: string,
  row: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const columns = Object.keys(row)
  const insert = rowStatement(
    database,
    `insert into ${table} (${columns})`,
    (db, param) => database.dialect.writes.unlessDuplicate(insertQuery(db, table, columns, param)),
    { duplicateIsNoop: true },
  )
  const { affected } = await insert(row, database)
  return affected === 1
}

/**
 * Inserts the row, or gives the row with the same `key` these values. `key` must be a unique key of
 * the table; have no other unique key on it that the row could hit (MySQL would then update that row).
 */
export async function upsert(
  database: Database,
  table: string,
  row: Readonly<Record<string, unknown>>,
  key: readonly string[],
): Promise<void> {
  const columns = Object.keys(row)
  const rest = columns.filter((column) => !key.includes(column))
  const write = rowStatement(database, `upsert ${table} (${columns}) by ${key}`, (db, param) =>
    database.dialect.writes.orUpdate(insertQuery(db, table, columns, param), rest, key),
  )
  await write(row, database)
}

/**
 * Adds the row's number to the one with the same `key`, or begins with it. One statement, because of
 * many callers at once none must be lost. `key` must be the table's only unique key.
 */
export async function increase(
  database: Database,
  table: string,
  row: Readonly<Record<string, unknown>>,
  { key, column }: { readonly key: readonly string[]; readonly column: string },
): Promise<void> {
  const columns = Object.keys(row)
  const what = `increase ${table}.${column} (${columns}) by ${key}`
  const write = rowStatement(database, what, (db, param) =>
    database.dialect.writes.orIncrease(insertQuery(db, table, columns, param), key, {
      table,
      column,
    }),
  )
  await write(row, database)
}

/** Deletes at most `limit` rows in one short statement; says how many. Repeat until it is fewer. */
export async function deleteBatch(database: Database, batch: DeleteBatch): Promise<number> {
  const query = database.dialect.writes.deleteBatch(database.kysely, batch)
  const { numDeletedRows } = await query.executeTakeFirst()
  return Number(numDeletedRows)
}

function insertQuery(
  db: AnyKysely,
  table: string,
  columns: readonly string[],
  param: ParamBuilder<Row>,
): InsertQuery {
  return db
    .insertInto(table)
    .values(Object.fromEntries(columns.map((column) => [column, param(column)])))
}

const compiled = new WeakMap<Database, Map<string, Statement<Row, unknown>>>()
const COMPILED = 500

/** Compiles a write once for each database, table and set of columns. */
function rowStatement(
  database: Database,
  what: string,
  build: (db: AnyKysely, param: ParamBuilder<Row>) => InsertQuery,
  how?: StatementOptions,
): Statement<Row, unknown> {
  const { root } = internalsOf(database)
  let statements = compiled.get(root)
  if (!statements || statements.size >= COMPILED) {
    statements = new Map()
    compiled.set(root, statements)
  }
  let statement = statements.get(what)
  if (!statement) {
    statement = prepareStatement<unknown, Row, unknown>(root, build, how)
    statements.set(what, statement)
  }
  return statement
}
