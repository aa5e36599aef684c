import { type RawBuilder, sql } from 'kysely'
import { type Database, internalsOf } from '../database.ts'
import type { ColumnDefinition } from './columns.ts'

/** Argument of `createTable()`. */
export interface Table {
  /** SQL types of the columns, by column name. */
  readonly columns: Readonly<Record<string, ColumnDefinition>>
  /** Columns of the primary key. Omit it if a column is a `counter`, which is the primary key. */
  readonly primaryKey?: readonly string[]
  /** Columns of the unique indexes, by index name. */
  readonly unique?: Readonly<Record<string, readonly string[]>>
  /** Columns of the indexes, by index name. The names must be unique in the whole database. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>
}

/**
 * Creates a table and its indexes, each only if it does not exist, so that a migration that was
 * killed halfway can run again.
 * @example
 * ```ts
 * await createTable(database, 'notes', {
 *   columns: { id: columns.id, user_id: columns.id, body: columns.text, read_at: columns.instant.nullable() },
 *   primaryKey: ['id'],
 *   indexes: { notes_by_user: ['user_id', 'id'] },
 * })
 * ```
 */
export async function createTable(database: Database, name: string, table: Table): Promise<void> {
  const parts = Object.entries(table.columns).map(([column, type]) => defineColumn(column, type))
  if (table.primaryKey) parts.push(sql`primary key (${columnList(table.primaryKey)})`)
  const suffix = database.dialect.schema.tableOptions(internalsOf(database).engine)
  await sql`create table if not exists ${sql.table(name)} (${sql.join(parts)}) ${sql.raw(suffix)}`.execute(
    database.kysely,
  )
  noteColumns(database, name, Object.keys(table.columns))
  for (const [index, columns] of Object.entries(table.unique ?? {})) {
    await createIndex(database, { name: index, table: name, columns, unique: true })
  }
  for (const [index, columns] of Object.entries(table.indexes ?? {})) {
    await createIndex(database, { name: index, table: name, columns })
  }
}

/** Argument of `createIndex()`. */
export interface Index {
  /** Name of the index. Unique in the whole database. */
  readonly name: string
  /** Table to index. */
  readonly table: string
  /** Indexed columns, in order. */
  readonly columns: readonly string[]
  /**
   * Whether two rows must not have the same values in these columns.
   * @default false
   */
  readonly unique?: boolean
}

/** Creates the index if it does not exist. */
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

/**
 * Adds a column if it does not exist. The column must be nullable, because existing rows have no
 * value for it.
 */
export async function addColumn(
  database: Database,
  table: string,
  name: string,
  column: ColumnDefinition,
): Promise<void> {
  if (!column.isNullable) {
    throw new TypeError(`The new column ${table}.${name} must be nullable: add .nullable()`)
  }
  if (await hasColumn(database, table, name)) return
  await sql`alter table ${sql.table(table)} add column ${defineColumn(name, column)}`.execute(
    database.kysely,
  )
  noteColumns(database, table, [name])
}

/** Remembers columns that exist once the recorded statements have run. */
function noteColumns(database: Database, table: string, columns: readonly string[]): void {
  const tables = internalsOf(database).record?.tables
  tables?.set(table, new Set([...(tables.get(table) ?? []), ...columns]))
}

function isRecorded(database: Database, table: string, column?: string): boolean {
  const columns = internalsOf(database).record?.tables.get(table)
  return columns !== undefined && (column === undefined || columns.has(column))
}

function defineColumn(name: string, { type, isNullable, length }: ColumnDefinition) {
  const nullability = sql.raw(isNullable ? 'null' : 'not null')
  const check =
    length === undefined ? sql`` : sql`check (length(${sql.ref(name)}) <= ${sql.lit(length)})`
  return sql`${sql.ref(name)} ${sql.raw(type)} ${nullability} ${check}`
}

function columnList(columns: readonly string[]) {
  return sql.join(columns.map((column) => sql.ref(column)))
}

/** Whether the table exists. */
export async function hasTable(database: Database, name: string): Promise<boolean> {
  if (isRecorded(database, name)) return true
  return findsRow(database, database.dialect.schema.findTable(name))
}

/** Whether the table exists and has the column. */
export async function hasColumn(
  database: Database,
  table: string,
  column: string,
): Promise<boolean> {
  if (isRecorded(database, table, column)) return true
  return findsRow(database, database.dialect.schema.findColumn(table, column))
}

async function findsRow(database: Database, query: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await query.execute(database.kysely)
  return rows.length > 0
}

/**
 * Makes a column nullable, in a migration. Keeps its values, type and default, and the table's
 * indexes. Does nothing if the column is nullable already, and can be called again after a process
 * died halfway.
 *
 * Processes that always set the column can continue to run. Columns of the primary key cannot be
 * nullable.
 * @example
 * ```ts
 * await dropNotNull(database, 'notes', 'user_id')
 * ```
 */
export async function dropNotNull(
  database: Database,
  table: string,
  column: string,
): Promise<void> {
  const drop = database.dialect.schema.dropNotNull
  const { record } = internalsOf(database)
  if (drop && record) {
    // The statements are made from the definition of the table, which may not exist yet.
    record.add(`-- makes the column ${table}.${column} nullable`)
    return
  }
  if (drop) {
    await database.transaction((tx) => drop(tx.kysely, table, column))
    return
  }
  await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} drop not null`.execute(
    database.kysely,
  )
}
