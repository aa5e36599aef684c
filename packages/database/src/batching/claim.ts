import { type Claim, type Database, internalsOf } from '../database.ts'
import type { AnyTables, ClaimThenInsert, UpdateOne } from '../definitions.ts'
import {
  type AnyKysely,
  type BatchedClaims,
  type SharedStatements,
  WINNER_COLUMN,
} from '../dialects/dialect.ts'
import { hasErrorKind, UNAVAILABLE_ERROR_KINDS } from '../errors.ts'
import { prepareStatement } from '../statements/statement.ts'
import { toJsonRows } from '../values.ts'
import { prepareUpdate, prepareUpdateThenInsert } from '../writes/conditional.ts'
import { createBatcher } from './batcher.ts'

/** Implements `database.updateOneReturning()`. */
export function prepareUpdateOneReturning<T, Params extends object, Row>(
  database: Database<T>,
  definition: UpdateOne<T, Params>,
): Claim<Params, Row> {
  const alone = prepareUpdate<T, Params, Row>(database, definition)
  const { together: types } = definition
  return types ? claimTogether(database, alone, { claim: definition, types }) : alone
}

/** Implements `database.claimThenInsert()`. */
export function prepareClaimThenInsert<T, Params extends object, Row>(
  database: Database<T>,
  definition: ClaimThenInsert<T, Params>,
): Claim<Params, Row> {
  const alone = prepareUpdateThenInsert<T, Params, Row>(database, definition)
  const { together: types, claim, insert } = definition
  return types ? claimTogether(database, alone, { claim, insert, types }) : alone
}

/**
 * Resolves with one result per item: the row, `null` if nothing changed, `undefined` if the item
 * must be run alone.
 */
type ClaimMany<Params, Row> = (items: readonly Params[]) => Promise<Array<Row | null | undefined>>

/** Batches concurrent calls of a claim into one statement or one commit, as the dialect allows. */
function claimTogether<T, Params extends object, Row>(
  database: Database<T>,
  claimOne: Claim<Params, Row>,
  claims: BatchedClaims,
): Claim<Params, Row> {
  const { batching } = database.dialect
  if (!batching) return claimOne
  const together =
    batching.share === 'commit'
      ? inOneTransaction(database, claimOne)
      : inOneStatement<T, Params, Row>(database, batching, claims)
  const runBatched = createBatcher<Params, Row | null>({
    together,
    alone: (params) => claimOne(params),
    patience: batching.patience,
    mayBeCommitted: (error) => hasErrorKind(error, UNAVAILABLE_ERROR_KINDS),
    isInUnitOfWork: () => internalsOf(database).isInUnitOfWork(),
  })
  return (params, on) => (on ? claimOne(params, on) : runBatched(params))
}

function inOneTransaction<T, Params extends object, Row>(
  database: Database<T>,
  alone: Claim<Params, Row>,
): ClaimMany<Params, Row> {
  return (items) =>
    database.transaction(async (tx) => {
      const rows: Array<Row | null> = []
      for (const params of items) rows.push(await alone(params, tx))
      return rows
    })
}

function inOneStatement<T, Params extends object, Row>(
  database: Database<T>,
  batching: SharedStatements,
  claims: BatchedClaims,
): ClaimMany<Params, Row> {
  type Won = Record<typeof WINNER_COLUMN, number>
  const run = prepareStatement<AnyTables, { list: string }, Won>(
    database,
    (db: AnyKysely, param) => batching.claimMany(db, claims, param('list')),
    { followsSize: true },
  )
  return async (items) => {
    const { rows } = await run({ list: toJsonRows(items) })
    const won = new Array<Row | undefined>(items.length)
    for (const { [WINNER_COLUMN]: number, ...row } of rows) won[number - 1] = row as Row
    return won
  }
}
