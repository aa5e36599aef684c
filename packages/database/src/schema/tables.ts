import { type RawBuilder, sql } from 'kysely'
import { type Database, internals } from '../database.ts'
import type { Dialect } from '../dialects/engine.ts'
import type { Column } from './columns.ts'

export interface Table {
  readonly columns: Readonly<Record<string, Column>>
  /** Left out when a column is a `counter`, which is the primary key. */
  readonly primaryKey?: readonly string[]
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
  const suffix = tableOptions[database.dialect](database)
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

export interface Index {
  readonly name: string
  readonly table: string
  readonly columns: readonly string[]
  readonly unique?: boolean
}

/** Creates the index if it is not there. */
export async function createIndex(database: Database, index: Index): Promise<void> {
  const { name, table, columns, unique = false } = index
  if (database.dialect === 'mysql' && (await mysqlHas(database, 'index', table, name))) return
  const ifAbsent = sql.raw(database.dialect === 'mysql' ? '' : 'if not exists')
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

const tableOptions = {
  sqlite: () => 'strict',
  postgres: () => '',
  mysql: (database: Database) =>
    `engine = InnoDB, default ${database[internals].engine.exactText.replace(' collate', ', collate')}`,
}

/** Whether the table is there. */
export async function hasTable(database: Database, name: string): Promise<boolean> {
  const { rows } = await findTable[database.dialect](name).execute(database.kysely)
  return rows.length > 0
}

const findTable: Record<Dialect, (name: string) => RawBuilder<unknown>> = {
  sqlite: (name) => sql`select 1 from sqlite_master where type = 'table' and name = ${name}`,
  postgres: (name) => sql`select 1 where to_regclass(quote_ident(${name})) is not null`,
  mysql: (name) => sql`select 1 from information_schema.tables
    where table_schema = database() and table_name = ${name}`,
}

/** Whether the table is there and has the column. */
export async function hasColumn(
  database: Database,
  table: string,
  column: string,
): Promise<boolean> {
  if (database.dialect === 'mysql') return mysqlHas(database, 'column', table, column)
  const query =
    database.dialect === 'sqlite'
      ? sql`select 1 from pragma_table_info(${table}) where name = ${column}`
      : sql`select 1 from pg_attribute where attrelid = to_regclass(quote_ident(${table}))
              and attname = ${column} and not attisdropped`
  const { rows } = await query.execute(database.kysely)
  return rows.length > 0
}

async function mysqlHas(
  database: Database,
  kind: 'index' | 'column',
  table: string,
  name: string,
): Promise<boolean> {
  const catalogue =
    kind === 'index' ? 'information_schema.statistics' : 'information_schema.columns'
  const { rows } = await sql`select 1 from ${sql.table(catalogue)}
    where table_schema = database() and table_name = ${table}
      and ${sql.ref(`${kind}_name`)} = ${name}`.execute(database.kysely)
  return rows.length > 0
}
