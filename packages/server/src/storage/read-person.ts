import type { AnyTables, Database } from '@tollgate/database'
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { type PersonIds, type PersonTable, personTables } from './person-tables.ts'

/** One row or object of a person's data. */
export interface PersonEntry {
  /** Name of the section, such as `sessions`. */
  readonly section: string
  readonly data: Readonly<Record<string, unknown>>
}

const PAGE = 500

type Rows = ExpressionBuilder<AnyTables, string>

/** Reads all rows of a person from the tables in `personTables`, page by page, without secrets. */
export async function* readPersonTables(
  database: Database,
  keys: PersonIds,
): AsyncGenerator<readonly PersonEntry[]> {
  for (const table of personTables) yield* readPersonTable(database, table, keys)
}

async function* readPersonTable(
  database: Database,
  { section, shown, owned, except, key }: PersonTable,
  keys: PersonIds,
): AsyncGenerator<readonly PersonEntry[]> {
  const conditions = Array.isArray(owned) ? owned : [owned]
  const columns = [...new Set([...shown.columns, key])]
  let last: unknown = null
  for (;;) {
    let query = database.kysely
      .selectFrom(shown.name)
      .select(columns)
      .where((eb: Rows) => eb.or(conditions.map((each) => matches(eb, each, keys))))
    if (except) query = query.where((eb: Rows) => eb.not(hasValues(eb, except)))
    if (last !== null) query = query.where(key, '>', last)
    const rows = await query.orderBy(key).limit(PAGE).execute()
    yield rows.map((row) => ({ section, data: toJson(shown, row) }))
    if (rows.length < PAGE) return
    last = rows.at(-1)?.[key]
  }
}

function matches(
  eb: Rows,
  owned: Exclude<PersonTable['owned'], readonly unknown[]>,
  keys: PersonIds,
): Expression<SqlBool> {
  return eb.and(
    Object.entries(owned).map(([column, by]) => {
      if (by === 'accounts') return eb(column, 'in', keys.accounts)
      if (typeof by === 'string') return eb(column, '=', keys[by])
      if ('equals' in by) return eb(column, '=', by.equals)
      return eb(
        column,
        'in',
        eb.selectFrom(by.of).select(by.column).where('user_id', '=', keys.number),
      )
    }),
  )
}

const hasValues = (eb: Rows, values: NonNullable<PersonTable['except']>) =>
  eb.and(
    Object.entries(values).map(([name, value]) => eb(name, value === null ? 'is' : '=', value)),
  )

/** Converts a row to JSON with the names of its columns. */
function toJson(shown: PersonTable['shown'], row: object): PersonEntry['data'] {
  // The record has its properties in the order of the columns.
  const values = Object.values(shown.fromRow(row as never))
  return Object.fromEntries(shown.columns.map((column, at) => [column, values[at]]))
}
