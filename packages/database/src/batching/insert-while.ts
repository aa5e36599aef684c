import { sql } from 'kysely'
import { type Database, internalsOf } from '../database.ts'
import type { AnyTables, InsertWhile } from '../definitions.ts'
import {
  type AnyKysely,
  type BatchedInserts,
  type SharedStatements,
  WINNER_COLUMN,
} from '../dialects/dialect.ts'
import { hasErrorKind, UNAVAILABLE_ERROR_KINDS } from '../errors.ts'
import { prepareStatement } from '../statements/statement.ts'
import { toJsonRows } from '../values.ts'
import { createBatcher } from './batcher.ts'

type Insert<Params> = (params: Params, on?: Database) => Promise<boolean>

/**
 * Returns a function that inserts a row on condition that another row exists and meets `where`. The
 * condition holds until the insert is committed: a transaction that later changes or deletes the
 * other row sees the inserted one. Any number of inserts may depend on the same row at a time. The
 * function resolves with whether the row was inserted; `false` means that the other row is missing
 * or does not meet the condition.
 */
export function insertWhile<T, Params extends object>(
  database: Database<T>,
  definition: InsertWhile<T, Params>,
): (params: Params, on?: Database) => Promise<boolean> {
  const alone = insertAlone(database, definition)
  const { together: types, row, insert } = definition
  const { batching } = database.dialect
  if (!batching || !types) return alone
  const runBatched = createBatcher<Params, boolean>({
    together:
      batching.share === 'commit'
        ? inOneTransaction(database, alone)
        : inOneStatement(database, batching, { row, insert, types }),
    alone: (params) => alone(params),
    patience: batching.patience,
    mayBeCommitted: (error) => hasErrorKind(error, UNAVAILABLE_ERROR_KINDS),
    isInUnitOfWork: () => internalsOf(database).isInUnitOfWork(),
  })
  return (params, on) => (on ? alone(params, on) : runBatched(params))
}

function insertAlone<T, Params extends object>(
  database: Database<T>,
  { row, insert }: InsertWhile<T, Params>,
): Insert<Params> {
  const { writes } = database.dialect
  const run = database.statement<Params>((db, param) => {
    const values = insert.values(param)
    const columns = Object.keys(values)
    const plain: AnyKysely = db
    const select = plain
      .selectFrom(row.table as string)
      .select(columns.map((column) => sql`${values[column]}`.as(column)))
      .where((eb) => eb.and(row.key(param)))
      .where((eb) => row.where?.(eb, param) ?? eb.lit(true))
    return plain
      .insertInto(insert.table as string)
      .columns(columns)
      .expression(writes.hold(select))
  })
  return async (params, on = database) => (await run(params, on)).affected > 0
}

function inOneTransaction<T, Params>(database: Database<T>, alone: Insert<Params>) {
  return (items: readonly Params[]): Promise<boolean[]> =>
    database.transaction(async (tx) => {
      const inserted: boolean[] = []
      for (const params of items) inserted.push(await alone(params, tx))
      return inserted
    })
}

function inOneStatement<T, Params extends object>(
  database: Database<T>,
  batching: SharedStatements,
  inserts: BatchedInserts,
) {
  const run = prepareStatement<AnyTables, { list: string }, Record<typeof WINNER_COLUMN, number>>(
    database,
    (db, param) => batching.insertManyWhile(db, inserts, param('list')),
    { followsSize: true },
  )
  return async (items: readonly Params[]): Promise<Array<boolean | undefined>> => {
    const { rows } = await run({ list: toJsonRows(items) })
    const inserted = new Array<boolean | undefined>(items.length)
    for (const { [WINNER_COLUMN]: number } of rows) inserted[number - 1] = true
    return inserted
  }
}
