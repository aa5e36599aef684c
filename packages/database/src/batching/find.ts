import { type Kysely, type SqlBool, sql } from 'kysely'
import type { AnyTables } from '../any-tables.ts'
import { type Database, internals } from '../database.ts'
import type { Dialect } from '../dialects/engine.ts'
import { prepareStatement } from '../statements/statement.ts'
import { gather } from './gather.ts'

type AnyKysely = Kysely<AnyTables>
type Find<Row> = (value: string) => Promise<Row | null>

export interface FindTarget {
  readonly table: string
  /** A text column that is unique by itself. */
  readonly key: string
}

/** Finds a row by its key; where statements cost, calls that come at the same time share one. */
export function findTogether<Row extends object>(
  database: Database,
  target: FindTarget,
): Find<Row> {
  const { table, key } = target
  const one = database.statement<{ value: string }, Row>((db, param) =>
    (db as AnyKysely).selectFrom(table).selectAll().where(key, '=', param('value')),
  )
  const alone: Find<Row> = async (value) => (await one({ value })).rows[0] ?? null
  if (!sharesStatements[database.dialect]) return alone
  const { patience } = database[internals].engine
  return gather({ alone, together: findMany<Row>(database, target), patience })
}

const sharesStatements: Record<Dialect, boolean> = { sqlite: false, postgres: true, mysql: false }

function findMany<Row extends object>(database: Database, { table, key }: FindTarget) {
  const many = prepareStatement<AnyTables, { list: string }, Row>(
    database,
    (db, param) =>
      db
        .selectFrom(table)
        .selectAll()
        .where(
          sql<SqlBool>`${sql.ref(key)} = any(array(select json_array_elements_text(${param('list')})))`,
        ),
    { followsSize: true },
  )
  return async (values: readonly string[]): Promise<Array<Row | null>> => {
    const { rows } = await many({ list: JSON.stringify(values) })
    const found = new Map(rows.map((row) => [(row as Record<string, unknown>)[key], row]))
    return values.map((value) => found.get(value) ?? null)
  }
}
