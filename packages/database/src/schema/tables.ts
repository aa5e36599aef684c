import { type RawBuilder, sql } from 'kysely'
import { type Database, internalsOf } from '../database.ts'
import type { Column } from './columns.ts'

/** What `createTable()` takes. */
export interface Table {
  /** Column name → its type. */
  readonly columns: Readonly<Record<string, Column>>
  /** Left out when a column is a `counter`, which is the primary key. */
  readonly primaryKey?: readonly string[]
  /** Name of a unique index → its columns. */
  readonly unique?: Readonly<Record<string, readonly string[]>>
  /** Index name → its columns. Names must be unique in the whole database. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>
}

/**
 * Creates the table and its indexes, each only if it is not there: a migration that was killed
 * halfway can run again.
 * @example
 * await createTable(database, 'notes', {
 *   columns: { id: columns.id, user_id: columns.id, body: columns.text, read_at: columns.instant.nullable() },
 *   primaryKey: ['id'],
 *   indexes: { notes_by_user: ['user_id', 'id'] },
 * })
 */
export async function createTable(database: Database, name: string, table: Table): Promise<void> {
  const parts = Object.entries(table.columns).map(([column, type]) => defineColumn(column, type))
  if (table.primaryKey) parts.push(sql`primary key (${columnList(table.primaryKey)})`)
  const suffix = database.dialect.schema.tableOptions(internalsOf(database).engine)
  await sql`create table if not exists ${sql.table(name)} (${sql.join(parts)}) ${sql.raw(suffix)}`.execute(
    database.kysely,
  )
  for (const [index, columns] of Object.entries(table.unique ?? {})) {
    await createIndex(database, { name: index, table: name, columns, unique: true })
  }
  for (const [index, columns] of Object.entries(table.indexes ?? {})) {
    await createIndex(database, { name: index, table: name, columns })
  }
}

/** What `createIndex()` takes. */
export interface Index {
  /** Unique in the whole database. */
  readonly name: string
  /** The table that it is on. */
  readonly table: string
  /** The columns, in the order of the index. */
  readonly columns: readonly string[]
  /** No two rows may have the same values there. Defaults to false. */
  readonly unique?: boolean
}

/** Creates the index if it is not there. */
export async function createIndex(database: Database, index: Index): Promise<void> {
  const { name, table, columns, unique = false } = index
  const find = database.dialect.schema.findIndex?.(table, name)
  if (find && (await findsRow(database, find))) return
  const ifAbsent = sql.raw(find ? '' : 'if not exists')
  const kind = sql.raw(unique ? 'unique index' : 'index')
  await sql`create ${kind} ${ifAbsent} ${sql.ref(name)} on ${sql.table(table)} (${columnList(columns)})`.execute(
    database.kysely,
  )
}

/** Adds a column, which must be nullable because of the rows that are there, if it is not there. */
export async function addColumn(
  database: Database,
  table: string,
  name: string,
  column: Column,
): Promise<void> {
  if (!column.isNullable) {
    throw new TypeError(`The new column ${table}.${name} must be nullable: add .nullable()`)
  }
  if (await hasColumn(database, table, name)) return
  await sql`alter table ${sql.table(table)} add column ${defineColumn(name, column)}`.execute(
    database.kysely,
  )
}

function defineColumn(name: string, { type, isNullable, length }: Column) {
  const nullability = sql.raw(isNullable ? 'null' : 'not null')
  const check =
    length === undefined ? sql`` : sql`check (length(${sql.ref(name)}) <= ${sql.lit(length)})`
  return sql`${sql.ref(name)} ${sql.raw(type)} ${nullability} ${check}`
}

function columnList(columns: readonly string[]) {
  return sql.join(columns.map((column) => sql.ref(column)))
}

/** Whether the table is there. */
export function hasTable(database: Database, name: string): Promise<boolean> {
  return findsRow(database, database.dialect.schema.findTable(name))
}

/** Whether the table is there and has the column. */
export function hasColumn(database: Database, table: string, column: string): Promise<boolean> {
  return findsRow(database, database.dialect.schema.findColumn(table, column))
}

async function findsRow(database: Database, query: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await query.execute(database.kysely)
  return rows.length > 0
}
