import type { Compilable, Kysely } from 'kysely'
import type { AnyTables } from './any-tables.ts'
import type { DatabaseClock } from './database-clock.ts'
import type { ClaimThenInsert, ParamBuilder, UpdateOne } from './definitions.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Engine, Runner } from './dialects/engine.ts'

/** Runs a compiled query with these values, in the transaction `on` if one is given. */
export type Statement<Params, Row> = (
  params: Params,
  on?: Database,
) => Promise<StatementResult<Row>>

/** What a statement came to. */
export interface StatementResult<Row> {
  /** Empty unless the statement returns rows. */
  readonly rows: Row[]
  /** Rows matched by an update or delete, inserted by an insert, 0 for a select. */
  readonly affected: number
}

/** The row won, or null when someone was faster or there is none. */
export type Claim<Params, Row> = (params: Params, on?: Database) => Promise<Row | null>

/**
 * A database of any kind, or one transaction on it.
 *
 * `kysely` builds and runs any query; `statement` and its relatives are compiled once and then only
 * run, which is what belongs on a hot path. Values are text, finite numbers, booleans (stored as 1
 * and 0), bytes or null; anything else is refused with a `TypeError` before it reaches a driver.
 */
export interface Database<T = AnyTables> {
  /** Which kind it is of, and all that is special about that kind. */
  readonly dialect: Dialect
  /** Milliseconds a caller waits for a connection or an ordinary statement. */
  readonly timeout: number
  /** The database's time, which all processes share. */
  readonly clock: DatabaseClock
  /** Builds and runs any query. */
  readonly kysely: Kysely<T>
  /**
   * A query that is compiled on first use and then run with values.
   * @example
   * const findUser = database.statement<{ id: string }, User>((db, param) =>
   *   db.selectFrom('users').selectAll().where('id', '=', param('id')))
   * const { rows } = await findUser({ id: 'ada' })
   */
  statement<Params extends object, Row = unknown>(
    build: (db: Kysely<T>, param: ParamBuilder<Params>) => Compilable,
  ): Statement<Params, Row>
  /**
   * Changes the one row that `key` names if it also meets `where`, and gives back its columns as they
   * then are; null when there is none. Only one of many simultaneous callers can win.
   */
  updateOneReturning<Params extends object, Row>(update: UpdateOne<T, Params>): Claim<Params, Row>
  /**
   * `updateOneReturning`, and for the winner one insert that may use the claimed row's columns: both
   * or neither. One statement on Postgres, one short transaction elsewhere.
   */
  claimThenInsert<Params extends object, Row>(
    definition: ClaimThenInsert<T, Params>,
  ): Claim<Params, Row>
  /**
   * Runs `work` in one short read-write transaction: `BEGIN IMMEDIATE` on SQLite, READ COMMITTED
   * elsewhere. After a deadlock or serialization failure `work` runs again, so it must have no effects
   * but through `tx`. A statement that fails fails the transaction, even if `work` catches the error.
   * On a transaction this just runs `work` in it.
   */
  transaction<R>(work: (tx: Database<T>) => Promise<R>): Promise<R>
  /**
   * A transaction that one holder of `name` runs at a time, across all processes; others wait for up
   * to five minutes. No statement timeout applies. On SQLite all names share the one writer's lock.
   */
  exclusively<R>(name: string, work: (tx: Database<T>) => Promise<R>): Promise<R>
  /** Lets what is under way finish, then closes every connection. */
  close(): Promise<void>
}

/** For this package only: what is below a Database. The same name in every copy of the package. */
export const internals: unique symbol = Symbol.for('tollgate.database.internals')

export interface Internals extends Runner {
  readonly engine: Engine
  /** The database itself, when this is one of its transactions. */
  readonly root: Database
  /** The same database or transaction, whose errors are changed before anybody sees them. */
  changeErrors(change: ChangeError): Database
}

/** Makes another error of one of the database's. The first one belongs into `cause`, by which its kind is known. */
export type ChangeError = (error: unknown) => unknown

export interface WithInternals {
  readonly [internals]: Internals
}

export function internalsOf(database: object): Internals {
  return (database as WithInternals)[internals]
}
