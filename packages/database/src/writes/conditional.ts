import { sql } from 'kysely'
import type { Claim, Database } from '../database.ts'
import type { ClaimThenInsert, ConditionalUpdate, ParamBuilder } from '../definitions.ts'
import type { AnyKysely } from '../dialects/dialect.ts'

/**
 * Prepares an update of the row that `key` identifies, if the row meets `where`. Each call runs
 * alone, without batching.
 */
export function prepareUpdate<T, Params extends object, Row>(
  database: Database<T>,
  definition: ConditionalUpdate<T, Params>,
): Claim<Params, Row> {
  if (database.dialect.writes.updatesReturnRows) {
    const update = database.statement<Params, Row>((db, param) =>
      updateQuery(db, definition, param).returning(definition.returning as string[]),
    )
    return async (params, on = database) => (await update(params, on)).rows[0] ?? null
  }
  const update = database.statement<Params>((db, param) => updateQuery(db, definition, param))
  const select = database.statement<Params, Row>((db, param) =>
    (db as AnyKysely)
      .selectFrom(definition.table as string)
      .select(definition.returning as string[])
      .where((eb) => eb.and(definition.key(param))),
  )
  return (params, on = database) =>
    on.transaction(async (tx) => {
      const { affected } = await update(params, tx)
      return affected === 0 ? null : ((await select(params, tx)).rows[0] ?? null)
    })
}

/**
 * Prepares an update of one row, with an insert for the caller whose update succeeds. Both happen,
 * or neither does.
 */
export function prepareUpdateThenInsert<T, Params extends object, Row>(
  database: Database<T>,
  definition: ClaimThenInsert<T, Params>,
): Claim<Params, Row> {
  return database.dialect.writes.ctesCanWrite
    ? updateThenInsertAtOnce<T, Params, Row>(database, definition)
    : updateThenInsertInTransaction<T, Params, Row>(database, definition)
}

function updateThenInsertAtOnce<T, Params extends object, Row>(
  database: Database<T>,
  { claim, insert }: ClaimThenInsert<T, Params>,
): Claim<Params, Row> {
  const both = database.statement<Params, Row>((db, param) =>
    (db as AnyKysely)
      .with('claimed', (cte) =>
        updateQuery(cte, claim, param).returning(claim.returning as string[]),
      )
      .with('inserted', (cte) => {
        const values = insert.values(param, (column) => sql.ref(`claimed.${column}`))
        const columns = Object.keys(values)
        return cte
          .insertInto(insert.table as string)
          .columns(columns)
          .expression((eb) =>
            eb
              .selectFrom('claimed')
              .select(columns.map((column) => sql`${values[column]}`.as(column))),
          )
      })
      .selectFrom('claimed')
      .selectAll(),
  )
  return async (params, on = database) => (await both(params, on)).rows[0] ?? null
}

function updateThenInsertInTransaction<T, Params extends object, Row>(
  database: Database<T>,
  { claim, insert }: ClaimThenInsert<T, Params>,
): Claim<Params, Row> {
  const update = prepareUpdate<T, Params, Row>(database, claim)
  const add = database.statement<Record<string, unknown>>((db, param) =>
    (db as AnyKysely)
      .insertInto(insert.table as string)
      .values(insert.values(param as ParamBuilder<Params>, (column) => param(claimedName(column)))),
  )
  return (params, on = database) =>
    on.transaction(async (tx) => {
      const row = await update(params, tx)
      if (row) await add({ ...params, ...asParams(row) }, tx)
      return row
    })
}

function updateQuery<T, Params>(
  db: unknown,
  { table, set, key, where }: ConditionalUpdate<T, Params>,
  param: ParamBuilder<Params>,
) {
  const update = (db as AnyKysely)
    .updateTable(table as string)
    .set(set(param))
    .where((eb) => eb.and(key(param)))
  return where ? update.where((eb) => where(eb, param)) : update
}

function claimedName(column: string): string {
  return `claimed ${column}`
}

function asParams(row: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [claimedName(name), value]))
}
