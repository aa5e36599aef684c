import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely'
import type { AnyTables } from '../any-tables.ts'
import { type Database, internals } from '../database.ts'
import type { Dialect } from '../dialects/engine.ts'
import {
  type ParamBuilder,
  prepareStatement,
  type Statement,
  type StatementOptions,
} from '../statements/statement.ts'

type Row = Readonly<Record<string, unknown>>
type AnyKysely = Kysely<AnyTables>

/** Inserts the row unless one with an equal unique key is there; says whether it did. */
export async function insertIfAbsent(
  database: Database,
  table: string,
  row: Row,
): Promise<boolean> {
  const columns = Object.keys(row)
  const insert = rowStatement(
    database,
    `insert into ${table} (${columns})`,
    (db, param) => unlessDuplicate[database.dialect](insertQuery(db, table, columns, param)),
    { duplicateIsNoop: true },
  )
  const { affected } = await insert(row, database)
  return affected === 1
}

/** MySQL has only INSERT IGNORE, which ignores far more; its engine turns the error into "no". */
const unlessDuplicate: Record<Dialect, (query: InsertQuery) => InsertQuery> = {
  sqlite: (query) => query.onConflict((conflict) => conflict.doNothing()),
  postgres: (query) => query.onConflict((conflict) => conflict.doNothing()),
  mysql: (query) => query,
}

/**
 * Inserts the row, or gives the row with the same `key` these values. `key` must be a unique key of
 * the table; have no other unique key on it that the row could hit (MySQL would then update that row).
 */
export async function upsert(
  database: Database,
  table: string,
  row: Row,
  key: readonly string[],
): Promise<void> {
  const columns = Object.keys(row)
  const write = rowStatement(database, `upsert ${table} (${columns}) by ${key}`, (db, param) =>
    orUpdate[database.dialect](
      insertQuery(db, table, columns, param),
      columns.filter((column) => !key.includes(column)),
      key,
    ),
  )
  await write(row, database)
}

type OrUpdate = (query: InsertQuery, rest: string[], key: readonly string[]) => InsertQuery

const onConflictUpdate: OrUpdate = (query, rest, key) =>
  query.onConflict((conflict) =>
    rest.length === 0
      ? conflict.columns([...key]).doNothing()
      : conflict
          .columns([...key])
          .doUpdateSet(Object.fromEntries(rest.map((c) => [c, sql.ref(`excluded.${c}`)]))),
  )

const orUpdate: Record<Dialect, OrUpdate> = {
  sqlite: onConflictUpdate,
  postgres: onConflictUpdate,
  mysql: (query, rest, key) =>
    query.onDuplicateKeyUpdate(
      Object.fromEntries(
        (rest.length > 0 ? rest : key).map((c) => [c, sql`values(${sql.ref(c)})`]),
      ),
    ),
}

/**
 * Adds the row's number to the one with the same `key`, or begins with it. One statement, so that of
 * many callers at once none is lost. `key` must be the table's only unique key.
 */
export async function increase(
  database: Database,
  table: string,
  row: Row,
  { key, column }: { readonly key: readonly string[]; readonly column: string },
): Promise<void> {
  const columns = Object.keys(row)
  const write = rowStatement(
    database,
    `increase ${table}.${column} (${columns}) by ${key}`,
    (db, param) =>
      orIncrease[database.dialect](insertQuery(db, table, columns, param), key, { table, column }),
  )
  await write(row, database)
}

type OrIncrease = (
  query: InsertQuery,
  key: readonly string[],
  at: { readonly table: string; readonly column: string },
) => InsertQuery

const onConflictIncrease: OrIncrease = (query, key, { table, column }) =>
  query.onConflict((conflict) =>
    conflict.columns([...key]).doUpdateSet({
      [column]: sql`${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
    }),
  )

const orIncrease: Record<Dialect, OrIncrease> = {
  sqlite: onConflictIncrease,
  postgres: onConflictIncrease,
  mysql: (query, _key, { column }) =>
    query.onDuplicateKeyUpdate({
      [column]: sql`${sql.ref(column)} + values(${sql.ref(column)})`,
    }),
}

export interface DeleteBatch {
  readonly table: string
  /** A column that is unique by itself. */
  readonly key: string
  /** Which rows; keep it on an index and the cost stays flat however large the table. */
  readonly where: (eb: ExpressionBuilder<AnyTables, AnyTables>) => Expression<SqlBool>
  readonly limit: number
}

/** Deletes at most `limit` rows in one short statement; says how many. Repeat until it is fewer. */
export async function deleteBatch(
  database: Database,
  { table, key, where, limit }: DeleteBatch,
): Promise<number> {
  const db: AnyKysely = database.kysely
  const doomed = db.selectFrom(table).select(key).where(where).limit(limit)
  const query = {
    sqlite: () => db.deleteFrom(table).where(key, 'in', doomed),
    // `= any(array(…))` fetches by the key's index, whatever the planner thinks of the subquery;
    // rows that a request is working on are left for the next time
    postgres: () => {
      const keys = doomed.forUpdate().skipLocked()
      return db.deleteFrom(table).where(sql<SqlBool>`${sql.ref(key)} = any(array(${keys}))`)
    },
    mysql: () => db.deleteFrom(table).where(where).limit(limit),
  }[database.dialect]()
  const { numDeletedRows } = await query.executeTakeFirst()
  return Number(numDeletedRows)
}

function insertQuery(
  db: AnyKysely,
  table: string,
  columns: readonly string[],
  param: ParamBuilder<Row>,
) {
  return db
    .insertInto(table)
    .values(Object.fromEntries(columns.map((column) => [column, param(column)])))
}

type InsertQuery = ReturnType<typeof insertQuery>

const compiled = new WeakMap<Database, Map<string, Statement<Row, unknown>>>()
const COMPILED = 500

/** Compiles a write once for each database, table and set of columns. */
function rowStatement(
  database: Database,
  what: string,
  build: (db: AnyKysely, param: ParamBuilder<Row>) => InsertQuery,
  how?: StatementOptions,
): Statement<Row, unknown> {
  const { root } = database[internals]
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
