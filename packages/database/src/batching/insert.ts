import { type Database, internalsOf } from '../database.ts'
import type { InsertTarget } from '../definitions.ts'
import type { SharedStatements } from '../dialects/dialect.ts'
import { hasErrorKind, UNAVAILABLE_ERROR_KINDS } from '../errors.ts'
import { toJsonRows } from '../values.ts'
import { insertIfAbsent } from '../writes/portable.ts'
import { createBatcher } from './batcher.ts'

type Row = Readonly<Record<string, unknown>>
type Insert = (row: Row) => Promise<boolean>
type InsertMany = (rows: readonly Row[]) => Promise<boolean[]>

/**
 * Returns a function that inserts a row unless its key is taken, like `insertIfAbsent()`, and
 * resolves with whether it did. Concurrent calls share one statement or one commit, so use it for
 * tables that many callers insert into at the same time. When the promise of a call resolves, its
 * row is stored durably.
 */
export function insertTogether<T extends object>(
  database: Database,
  target: InsertTarget,
): (row: T) => Promise<boolean> {
  const alone: Insert = (row) => insertIfAbsent(database, target.table, row)
  return batchInserts(database, target, alone) as (row: object) => Promise<boolean>
}

function batchInserts(database: Database, target: InsertTarget, alone: Insert): Insert {
  const { batching } = database.dialect
  if (!batching) return alone
  return createBatcher({
    alone,
    together:
      batching.share === 'commit'
        ? inOneTransaction(database, target)
        : inOneStatement(database, batching, target),
    patience: batching.patience,
    mayBeCommitted: (error) => hasErrorKind(error, UNAVAILABLE_ERROR_KINDS),
    isInUnitOfWork: () => internalsOf(database).isInUnitOfWork(),
  })
}

function inOneTransaction(database: Database, { table }: InsertTarget): InsertMany {
  return (rows) =>
    database.transaction(async (tx) => {
      const added: boolean[] = []
      for (const row of rows) added.push(await insertIfAbsent(tx, table, row))
      return added
    })
}

function inOneStatement(
  database: Database,
  batching: SharedStatements,
  target: InsertTarget,
): InsertMany {
  const insert = database.statement<{ rows: string }, Row>((db, param) =>
    batching.insertMany(db, target, param('rows')),
  )
  const nameOf = (row: Row) => JSON.stringify(target.key.map((column) => row[column]))
  return async (rows) => {
    const inserted = await insert({ rows: toJsonRows(rows) })
    if (inserted.rows.length === rows.length) return rows.map(() => true)
    const left = new Set(inserted.rows.map(nameOf))
    // If one statement contains rows with equal keys, only one of them was inserted.
    return rows.map((row) => left.delete(nameOf(row)))
  }
}
