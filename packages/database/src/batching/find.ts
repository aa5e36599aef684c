import { type Database, internalsOf } from '../database.ts'
import type { AnyTables, FindTarget } from '../definitions.ts'
import type { AnyKysely, SharedStatements } from '../dialects/dialect.ts'
import { hasErrorKind, UNAVAILABLE_ERROR_KINDS } from '../errors.ts'
import { prepareStatement } from '../statements/statement.ts'
import { createBatcher } from './batcher.ts'

/**
 * Returns a function that finds a row by its key. On dialects that batch statements, concurrent
 * calls share one query.
 */
export function findTogether<Row extends object>(
  database: Database,
  target: FindTarget,
): (value: string) => Promise<Row | null> {
  const { table, key } = target
  const one = database.statement<{ value: string }, Row>((db: AnyKysely, param) =>
    db.selectFrom(table).selectAll().where(key, '=', param('value')),
  )
  const alone = async (value: string): Promise<Row | null> => (await one({ value })).rows[0] ?? null
  const { batching } = database.dialect
  if (batching?.share !== 'statement') return alone
  return createBatcher({
    alone,
    together: findMany<Row>(database, batching, target),
    patience: batching.patience,
    mayBeCommitted: (error) => hasErrorKind(error, UNAVAILABLE_ERROR_KINDS),
    isInUnitOfWork: () => internalsOf(database).isInUnitOfWork(),
  })
}

function findMany<Row extends object>(
  database: Database,
  batching: SharedStatements,
  target: FindTarget,
) {
  const many = prepareStatement<AnyTables, { list: string }, Row>(
    database,
    (db, param) => batching.findMany(db, target, param('list')),
    { followsSize: true },
  )
  return async (values: readonly string[]): Promise<Array<Row | null>> => {
    const { rows } = await many({ list: JSON.stringify(values) })
    const found = new Map(rows.map((row) => [(row as Record<string, unknown>)[target.key], row]))
    return values.map((value) => found.get(value) ?? null)
  }
}
