import { type Database, internalsOf, type Statement } from '../database.ts'
import type { DeleteBatch, ParamBuilder } from '../definitions.ts'
import type { AnyKysely, InsertQuery } from '../dialects/dialect.ts'
import { prepareStatement, type StatementOptions } from '../statements/statement.ts'

type Row = Readonly<Record<string, unknown>>

/** Inserts a row unless one with an equal unique key exists. Returns whether it was inserted. */
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
 * Inserts a row, or updates the row with the same `key`. `key` must be a unique key of the table,
 * and the only one that the row can conflict with (MySQL would otherwise update that other row).
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
 * Adds the number in the given row to the number in the stored row with the same `key`. Inserts the
 * given row if there is none. Uses a single statement, so that no concurrent addition is lost.
 * `key` must be the table's only unique key.
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

/**
 * Deletes at most `limit` rows in one short statement and returns their number. Repeat until it is
 * less than `limit`.
 */
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
  writeName: string,
  build: (db: AnyKysely, param: ParamBuilder<Row>) => InsertQuery,
  statementOptions?: StatementOptions,
): Statement<Row, unknown> {
  const { root } = internalsOf(database)
  let statements = compiled.get(root)
  if (!statements || statements.size >= COMPILED) {
    statements = new Map()
    compiled.set(root, statements)
  }
  let statement = statements.get(writeName)
  if (!statement) {
    statement = prepareStatement<unknown, Row, unknown>(root, build, statementOptions)
    statements.set(writeName, statement)
  }
  return statement
}
