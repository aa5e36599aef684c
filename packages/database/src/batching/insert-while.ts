import { sql } from 'kysely'
import type { AnyTables } from '../any-tables.ts'
import type { Database } from '../database.ts'
import type { InsertWhile } from '../definitions.ts'
import {
  type AnyKysely,
  type ManyInserts,
  type SelectQuery,
  type SharedStatements,
  WINNER,
} from '../dialects/dialect.ts'
import { hasKind, UNAVAILABLE } from '../errors.ts'
import { prepareStatement } from '../statements/statement.ts'
import { toJsonRows } from '../values.ts'
import { gather } from './gather.ts'

type Insert<Params> = (params: Params, on?: Database) => Promise<boolean>

/**
 * Inserts a row that rests on another one, which is there, and as it should be, until the insert is
 * committed: whoever changes or deletes it finds what was inserted. Any number may rest on the same row at
 * a time. Says whether it was there.
 */
export function insertWhile<T, Params extends object>(
  database: Database<T>,
  definition: InsertWhile<T, Params>,
): (params: Params, on?: Database) => Promise<boolean> {
  const alone = insertAlone(database, definition)
  const { together: types, row, insert } = definition
  const { batching } = database.dialect
  if (!batching || !types) return alone
  const gathered = gather<Params, boolean>({
    together:
      batching.share === 'commit'
        ? inOneTransaction(database, alone)
        : inOneStatement(database, batching, { row, insert, types } as unknown as ManyInserts),
    alone: (params) => alone(params),
    patience: batching.patience,
    mayBeDone: (error) => hasKind(error, UNAVAILABLE),
  })
  return (params, on) => (on ? alone(params, on) : gathered(params))
}

function insertAlone<T, Params extends object>(
  database: Database<T>,
  { row, insert }: InsertWhile<T, Params>,
): Insert<Params> {
  const { writes } = database.dialect
  const run = database.statement<Params>((db, param) => {
    const values = insert.values(param)
    const columns = Object.keys(values)
    const select = (db as unknown as AnyKysely)
      .selectFrom(row.table as string)
      .select(columns.map((column) => sql`${values[column]}`.as(column)))
      .where((eb) => eb.and(row.key(param)))
      .where((eb) => row.where?.(eb, param) ?? eb.lit(true)) as unknown as SelectQuery
    return (db as unknown as AnyKysely)
      .insertInto(insert.table as string)
      .columns(columns)
      .expression(writes.hold(select))
  })
  return async (params, on = database as Database) => (await run(params, on)).affected > 0
}

function inOneTransaction<T, Params>(database: Database<T>, alone: Insert<Params>) {
  return (items: readonly Params[]): Promise<boolean[]> =>
    database.transaction(async (tx) => {
      const inserted: boolean[] = []
      for (const params of items) inserted.push(await alone(params, tx as Database))
      return inserted
    })
}

function inOneStatement<T, Params extends object>(
  database: Database<T>,
  batching: SharedStatements,
  inserts: ManyInserts,
) {
  const run = prepareStatement<AnyTables, { list: string }, Record<typeof WINNER, number>>(
    database as Database,
    (db, param) => batching.insertManyWhile(db, inserts, param('list')),
    { followsSize: true },
  )
  return async (items: readonly Params[]): Promise<Array<boolean | undefined>> => {
    const { rows } = await run({ list: toJsonRows(items) })
    const inserted = new Array<boolean | undefined>(items.length)
    for (const { [WINNER]: number } of rows) inserted[number - 1] = true
    return inserted
  }
}
