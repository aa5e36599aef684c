import type { Expression, ExpressionBuilder, RawBuilder, SqlBool } from 'kysely'

/** Creates the placeholder of a named parameter in a query. */
export type ParamBuilder<Params> = <K extends keyof Params & string>(
  name: K,
) => RawBuilder<Params[K]>

/** Column name to value: a parameter, an expression or a plain value. */
export type Assignments = Readonly<
  Record<string, Expression<unknown> | string | number | boolean | null>
>

/** The row that `key` identifies, if it also meets `where`. */
export interface ConditionalRow<T, Params> {
  /** Table that contains the row. */
  readonly table: keyof T & string
  /** Values of a unique key, which identify the row. */
  readonly key: (param: ParamBuilder<Params>) => Assignments
  /** Additional condition on the row. */
  readonly where?: (
    eb: ExpressionBuilder<AnyTables, AnyTables>,
    param: ParamBuilder<Params>,
  ) => Expression<SqlBool>
}

/**
 * An update of the row that `key` identifies, if the row also meets `where`. It does not change the
 * key.
 */
export interface ConditionalUpdate<T, Params> extends ConditionalRow<T, Params> {
  /** New values of the row's columns. */
  readonly set: (param: ParamBuilder<Params>) => Assignments
  /** Columns to return, with their values after the change. */
  readonly returning: readonly string[]
}

/** The SQL type of each parameter. */
export type ParamTypes<Params> = Readonly<
  Record<keyof Params & string, 'text' | 'bigint' | 'timestamptz'>
>

/** Options for a write that many callers make at the same time. */
export interface BatchingOptions<Params> {
  /** SQL type of each parameter. If set, concurrent calls share one statement or one commit. */
  readonly together?: ParamTypes<Params>
}

/** Argument of `database.updateOneReturning()`. */
export interface UpdateOne<T, Params>
  extends ConditionalUpdate<T, Params>,
    BatchingOptions<Params> {}

/** Argument of `database.claimThenInsert()`. */
export interface ClaimThenInsert<T, Params> extends BatchingOptions<Params> {
  /** The row to claim, and the new values of its columns. */
  readonly claim: ConditionalUpdate<T, Params>
  /** The row to insert for the winner. */
  readonly insert: {
    readonly table: keyof T & string
    /** Values of the new row. `claimed(column)` refers to a column listed in `claim.returning`. */
    readonly values: (
      param: ParamBuilder<Params>,
      claimed: (column: string) => Expression<unknown>,
    ) => Assignments
  }
}

/** Argument of `insertWhile()`. */
export interface InsertWhile<T, Params> extends BatchingOptions<Params> {
  /** The row that must exist, so that the insert takes place. */
  readonly row: ConditionalRow<T, Params>
  /** The row to insert. */
  readonly insert: {
    readonly table: keyof T & string
    readonly values: (param: ParamBuilder<Params>) => Assignments
  }
}

/** Argument of `insertTogether()`. */
export interface InsertTarget {
  /** Table to insert into. */
  readonly table: string
  /** Columns that every row has. */
  readonly columns: readonly string[]
  /** Columns of the unique key. */
  readonly key: readonly string[]
}

/** Argument of `findTogether()`. */
export interface FindTarget {
  /** Table to search. */
  readonly table: string
  /** A text column that is unique on its own. */
  readonly key: string
}

/** Argument of `deleteBatch()`. */
export interface DeleteBatch {
  /** Table to delete from. */
  readonly table: string
  /** A column that is unique on its own. */
  readonly key: string
  /**
   * Condition of the rows to delete. If an index covers it, the cost does not grow with the table.
   */
  readonly where: (eb: ExpressionBuilder<AnyTables, AnyTables>) => Expression<SqlBool>
  /** Largest number of rows to delete. */
  readonly limit: number
}

/** Kysely's type for a database whose tables and columns are not known at compile time. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where it is meant
export type AnyTables = any
