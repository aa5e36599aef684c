import { sql } from 'kysely'
import type { AnyKysely, TimestampColumns } from '../dialect.ts'

/** Name of the new column that is filled beside the old one and then replaces it. */
const replacementColumnName = (name: string) => `${name}__timestamp`

/**
 * Converts columns of milliseconds to timestamps. A number converted in place would be read as the
 * digits of a date, so each column gets a new one beside it, which is filled and then replaces it.
 * Every statement commits: if a process dies halfway, the next one starts over with the current
 * values of the old columns.
 */
export const timestamps: TimestampColumns = {
  findType: (table, column) => sql`select column_type as type from information_schema.columns
    where table_schema = database() and table_name = ${table} and column_name = ${column}`,
  isInteger: (type) => /^bigint(\(\d+\))?$/.test(type),
  isTimestamp: (type) => /^datetime\([3-6]\)$/.test(type),
  async convert(db, table, columns) {
    const names = columns.map(({ name }) => name)
    for (const name of names) {
      const { rows } = await timestamps.findType(table, replacementColumnName(name)).execute(db)
      if (rows.length > 0) continue
      await sql`alter table ${sql.table(table)} add column ${sql.ref(replacementColumnName(name))} datetime(3) null`.execute(
        db,
      )
    }
    await fill(db, table, names)
    const { dropped, added } = await findIndexes(db, table, names)
    const changes = [
      ...dropped,
      ...names.map((name) => sql`drop column ${sql.ref(name)}`),
      ...columns.map(({ name, isNullable }) => {
        const nullability = sql.raw(isNullable ? 'null' : 'not null')
        return sql`change column ${sql.ref(replacementColumnName(name))} ${sql.ref(name)} datetime(3) ${nullability}`
      }),
      ...added,
    ]
    await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db)
  },
}

/**
 * Fills the new columns. Rows without any moment are not touched. In the strict SQL mode of our
 * sessions, years after 9999 fail here.
 */
async function fill(db: AnyKysely, table: string, names: readonly string[]): Promise<void> {
  const values = names.map(
    (name) => sql`${sql.ref(replacementColumnName(name))} =
      timestampadd(microsecond, ${sql.ref(name)} * 1000, '1970-01-01')`,
  )
  const isSet = names.flatMap((name) => [
    sql`${sql.ref(name)} is not null`,
    sql`${sql.ref(replacementColumnName(name))} is not null`,
  ])
  await sql`update ${sql.table(table)} set ${sql.join(values)}
    where ${sql.join(isSet, sql` or `)}`.execute(db)
}

interface IndexedColumn {
  readonly index_name: string
  readonly column_name: string
  readonly prefix: number | null
  readonly direction: string | null
  readonly is_unique: number
}

/**
 * Finds the indexes that contain one of the columns. Dropping a column removes it from its indexes,
 * so these are recreated in the same statement.
 */
async function findIndexes(db: AnyKysely, table: string, names: readonly string[]) {
  const { rows } = await sql<IndexedColumn>`select index_name as index_name,
      column_name as column_name, sub_part as prefix, collation as direction, non_unique = 0 as is_unique
    from information_schema.statistics
    where table_schema = database() and table_name = ${table} and index_name in (
      select index_name from information_schema.statistics
      where table_schema = database() and table_name = ${table} and column_name in (${sql.join(names)}))
    order by index_name, seq_in_index`.execute(db)
  const indexes = new Map<string, IndexedColumn[]>()
  for (const row of rows) indexes.set(row.index_name, [...(indexes.get(row.index_name) ?? []), row])
  return {
    dropped: [...indexes.keys()].map((index) => sql`drop index ${sql.ref(index)}`),
    added: [...indexes].map(([index, columns]) => {
      const kind = sql.raw(columns[0]?.is_unique ? 'unique index' : 'index')
      return sql`add ${kind} ${sql.ref(index)} (${sql.join(columns.map(indexedColumn))})`
    }),
  }
}

function indexedColumn({ column_name, prefix, direction }: IndexedColumn) {
  const length = prefix === null ? sql`` : sql`(${sql.lit(prefix)})`
  return sql`${sql.ref(column_name)}${length}${sql.raw(direction === 'D' ? ' desc' : '')}`
}
