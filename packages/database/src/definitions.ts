import type { Expression, ExpressionBuilder, RawBuilder, SqlBool } from 'kysely'
import type { AnyTables } from './any-tables.ts'

/** Marks the place where the value of one parameter goes. */
export type ParamBuilder<Params> = <K extends keyof Params & string>(
  name: K,
) => RawBuilder<Params[K]>

/** Column name → value: a parameter, an expression or a plain value. */
export type Assignments = Readonly<
  Record<string, Expression<unknown> | string | number | boolean | null>
>

/** The one row that `key` names, if it also meets `where`. */
export interface ConditionalRow<T, Params> {
  /** The table of the row. */
  readonly table: keyof T & string
  /** Values of a unique key: they name the row. */
  readonly key: (param: ParamBuilder<Params>) => Assignments
  /** What must also hold for the row. */
  readonly where?: (
    eb: ExpressionBuilder<AnyTables, AnyTables>,
    param: ParamBuilder<Params>,
  ) => Expression<SqlBool>
}

/** A change of that row, which leaves its key as it is. */
export interface ConditionalUpdate<T, Params> extends ConditionalRow<T, Params> {
  /** What the row's columns become. */
  readonly set: (param: ParamBuilder<Params>) => Assignments
  /** The columns to give back, as they are after the change. */
  readonly returning: readonly string[]
}

/** The SQL type of each parameter. */
export type ParamTypes<Params> = Readonly<
  Record<keyof Params & string, 'text' | 'bigint' | 'timestamptz'>
>

/** For a write that many callers ask for at the same time. */
export interface ManyCallers<Params> {
  /** The type of each parameter: those who come together then share one statement or one commit. */
  readonly together?: ParamTypes<Params>
}

/** What `database.updateOneReturning()` takes. */
export interface UpdateOne<T, Params> extends ConditionalUpdate<T, Params>, ManyCallers<Params> {}

/** What `database.claimThenInsert()` takes. */
export interface ClaimThenInsert<T, Params> extends ManyCallers<Params> {
  /** The row to be won. */
  readonly claim: ConditionalUpdate<T, Params>
  /** What the winner adds. */
  readonly insert: {
    readonly table: keyof T & string
    /** `claimed(column)` stands for a column that `claim.returning` lists. */
    readonly values: (
      param: ParamBuilder<Params>,
      claimed: (column: string) => Expression<unknown>,
    ) => Assignments
  }
}

/** What `insertWhile()` takes. */
export interface InsertWhile<T, Params> extends ManyCallers<Params> {
  /** The row that must be there. */
  readonly row: ConditionalRow<T, Params>
  /** What is added. */
  readonly insert: {
    readonly table: keyof T & string
    readonly values: (param: ParamBuilder<Params>) => Assignments
  }
}

/** What `insertTogether()` takes. */
export interface InsertTarget {
  /** The table of the rows. */
  readonly table: string
  /** Those that every row has. */
  readonly columns: readonly string[]
  /** The unique key. */
  readonly key: readonly string[]
}

/** What `findTogether()` takes. */
export interface FindTarget {
  /** The table of the rows. */
  readonly table: string
  /** A text column that is unique by itself. */
  readonly key: string
}

/** What `deleteBatch()` takes. */
export interface DeleteBatch {
  /** The table of the rows. */
  readonly table: string
  /** A column that is unique by itself. */
  readonly key: string
  /** Which rows; keep it on an index and the cost stays flat however large the table. */
  readonly where: (eb: ExpressionBuilder<AnyTables, AnyTables>) => Expression<SqlBool>
  /** How many rows, at most. */
  readonly limit: number
}
