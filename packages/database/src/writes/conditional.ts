import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely'
import type { AnyTables } from '../any-tables.ts'
import { claimTogether, type Many, updateMany, updateThenInsertMany } from '../batching/claim.ts'
import { type Database, internals } from '../database.ts'
import type { ParamBuilder } from '../statements/statement.ts'

/** Column name → value: a parameter, an expression or a plain value. */
export type Assignments = Readonly<
  Record<string, Expression<unknown> | string | number | boolean | null>
>

export interface ConditionalUpdate<T, Params> {
  readonly table: keyof T & string
  /** Values of a unique key: they name the row and are not changed by `set`. */
  readonly key: (param: ParamBuilder<Params>) => Assignments
  /** What must also hold for the row to be changed. */
  readonly where?: (
    eb: ExpressionBuilder<AnyTables, AnyTables>,
    param: ParamBuilder<Params>,
  ) => Expression<SqlBool>
  readonly set: (param: ParamBuilder<Params>) => Assignments
  readonly returning: readonly string[]
}

export type ParamTypes<Params> = Readonly<Record<keyof Params & string, 'text' | 'bigint'>>

/** For a write that many callers ask for at the same time. */
export interface ManyCallers<Params> {
  /** The type of each parameter: those who come together then share one statement or one commit. */
  readonly together?: ParamTypes<Params>
}

export interface UpdateOne<T, Params> extends ConditionalUpdate<T, Params>, ManyCallers<Params> {}

export interface ClaimThenInsert<T, Params> extends ManyCallers<Params> {
  readonly claim: ConditionalUpdate<T, Params>
  readonly insert: {
    readonly table: keyof T & string
    /** `claimed(column)` stands for a column that `claim.returning` lists. */
    readonly values: (
      param: ParamBuilder<Params>,
      claimed: (column: string) => Expression<unknown>,
    ) => Assignments
  }
}

/** The row won, or null when someone was faster or there is none. */
export type Claim<Params, Row> = (params: Params, on?: Database) => Promise<Row | null>

type AnyKysely = Kysely<AnyTables>

export function prepareUpdateOneReturning<T, Params extends object, Row>(
  database: Database<T>,
  definition: UpdateOne<T, Params>,
): Claim<Params, Row> {
  if (database[internals].engine.updatesReturnRows) {
    const update = database.statement<Params, Row>((db, param) =>
      updateQuery(db, definition, param).returning(definition.returning as string[]),
    )
    const alone: Claim<Params, Row> = async (params, on = database) =>
      (await update(params, on)).rows[0] ?? null
    const { together } = definition
    if (!together) return alone
    const many: Many = (db, list) => updateMany(db, definition, together, list)
    return claimTogether({ database, alone, many })
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

export function prepareClaimThenInsert<T, Params extends object, Row>(
  database: Database<T>,
  definition: ClaimThenInsert<T, Params>,
): Claim<Params, Row> {
  const alone = database[internals].engine.ctesCanWrite
    ? claimThenInsertAtOnce<T, Params, Row>(database, definition)
    : claimThenInsertInTransaction<T, Params, Row>(database, definition)
  const { together } = definition
  if (!together) return alone
  const many: Many = (db, list) => updateThenInsertMany(db, definition, together, list)
  return claimTogether({ database, alone, many })
}

function claimThenInsertAtOnce<T, Params extends object, Row>(
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

function claimThenInsertInTransaction<T, Params extends object, Row>(
  database: Database<T>,
  { claim, insert }: ClaimThenInsert<T, Params>,
): Claim<Params, Row> {
  const update = prepareUpdateOneReturning<T, Params, Row>(database, claim)
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
