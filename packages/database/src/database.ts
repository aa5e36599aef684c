import type { Compilable, Kysely } from 'kysely'
import type { DatabaseClock } from './database-clock.ts'
import type { AnyTables, ClaimThenInsert, ParamBuilder, UpdateOne } from './definitions.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { ConnectionCounts, Engine, Runner } from './dialects/engine.ts'

/**
 * Runs a compiled query with the values `params`. Pass a transaction as `on` to run the query in that
 * transaction.
 */
export type Statement<Params, Row> = (
  params: Params,
  on?: Database,
) => Promise<StatementResult<Row>>

/** Result of a statement. */
export interface StatementResult<Row> {
  /** Empty unless the statement returns rows. */
  readonly rows: Row[]
  /** Number of rows matched by an update or delete, or inserted by an insert. 0 for a select. */
  readonly affected: number
}

/**
 * A prepared write that claims a row for one caller. Resolves with the claimed row, or `null` if
 * another caller was faster or the row does not exist.
 */
export type Claim<Params, Row> = (params: Params, on?: Database) => Promise<Row | null>

/**
 * A database of any dialect, or one transaction on it.
 *
 * `kysely` builds and runs any query. `statement()` and related methods compile a query once and
 * then only run it: use them on hot paths. Values are text, finite numbers, booleans (stored as 1
 * and 0), bytes or `null`; any other value is rejected with a `TypeError` before it reaches a
 * driver.
 */
export interface Database<T = AnyTables> {
  /** The kind of database, with everything that is specific to it. */
  readonly dialect: Dialect
  /** Milliseconds that a caller waits for a connection or for an ordinary statement. */
  readonly timeout: number
  /** The database's time, which all processes share. */
  readonly clock: DatabaseClock
  /** Kysely, to build and run any query. */
  readonly kysely: Kysely<T>
  /**
   * Prepares a query that is compiled on first use and then run with different values.
   * @example
   * ```ts
   * const findUser = database.statement<{ id: string }, User>((db, param) =>
   *   db.selectFrom('users').selectAll().where('id', '=', param('id')))
   * const { rows } = await findUser({ id: 'ada' })
   * ```
   */
  statement<Params extends object, Row = unknown>(
    build: (db: Kysely<T>, param: ParamBuilder<Params>) => Compilable,
  ): Statement<Params, Row>
  /**
   * Prepares an update of the one row that `key` identifies, if it also meets `where`. The update
   * returns the row's columns after the change, or `null` if no row matched. Of many concurrent
   * callers only one can win.
   * @example
   * ```ts
   * const redeem = database.updateOneReturning<{ code: string }, { user_id: string }>({
   *   table: 'invitations',
   *   key: (param) => ({ code: param('code') }),
   *   where: (eb) => eb('used', '=', 0),
   *   set: () => ({ used: 1 }),
   *   returning: ['user_id'],
   * })
   * const invitation = await redeem({ code }) // null if it was used before
   * ```
   */
  updateOneReturning<Params extends object, Row>(update: UpdateOne<T, Params>): Claim<Params, Row>
  /**
   * Prepares an `updateOneReturning()` that also inserts one row for the winner, which may use the
   * claimed row's columns. Either both writes happen or neither does. One statement on Postgres,
   * one short transaction elsewhere.
   */
  claimThenInsert<Params extends object, Row>(
    definition: ClaimThenInsert<T, Params>,
  ): Claim<Params, Row>
  /**
   * Runs `work` in one short read-write transaction: `BEGIN IMMEDIATE` on SQLite, READ COMMITTED
   * elsewhere. After a deadlock or serialization failure `work` runs again, so it must have no side
   * effects other than through `tx`. A failed statement makes the whole transaction fail, even if
   * `work` catches the error. Called on a transaction, it runs `work` in that transaction.
   * @example
   * ```ts
   * await database.transaction(async (tx) => {
   *   await tx.kysely.insertInto('orders').values(order).execute()
   *   await tx.kysely.deleteFrom('carts').where('id', '=', order.cart_id).execute()
   * })
   * ```
   */
  transaction<R>(work: (tx: Database<T>) => Promise<R>): Promise<R>
  /**
   * Runs `work` in one transaction together with everything that it calls: every statement and
   * transaction that `work` sends through this database joins it, also from code that was given the
   * database itself, such as the repositories of a library. After a deadlock `work` runs again.
   * Await everything inside `work`: statements that it sends after its promise has settled are not
   * part of the transaction.
   * @example
   * ```ts
   * await database.unitOfWork(async () => {
   *   await oauth.clients.revoke(clientId)
   *   await audit.add({ action: 'clients.revoke', clientId })
   * })
   * ```
   */
  unitOfWork<R>(work: () => Promise<R>): Promise<R>
  /**
   * Calls `run` when the unit of work that the caller runs in is committed, and never if it is
   * undone. Outside of a unit of work, `run` is called immediately. Use it for effects that a
   * transaction cannot undo, such as changes of caches, events and requests to other services.
   * `run` must not throw.
   * @example
   * ```ts
   * database.afterCommit(() => cache.delete(clientId))
   * ```
   */
  afterCommit(run: () => void): void
  /**
   * Runs `work` in a transaction while holding the lock `name`, which only one caller across all
   * processes can hold at a time. Others wait for up to five minutes. No statement timeout applies.
   * On SQLite, all names share one lock, because only one transaction can write at a time.
   */
  exclusively<R>(name: string, work: (tx: Database<T>) => Promise<R>): Promise<R>
  /**
   * Counts the connections of this process, for metrics. `null` if the database has no pool of
   * connections, as SQLite.
   */
  connections(): ConnectionCounts | null
  /** Waits for running statements and transactions, then closes every connection. */
  close(): Promise<void>
}

/**
 * For this package only: access to the engine below a `Database`. Equal in all copies of the
 * package.
 */
export const internals: unique symbol = Symbol.for('tollgate.database.internals')

/**
 * Statements that were recorded instead of executed, and the columns that they would have created.
 * Reads do not see these columns, because the database is unchanged.
 */
export interface StatementRecord {
  /** Columns of the tables that recorded statements create or extend. */
  readonly tables: Map<string, Set<string>>
  add(statement: string): void
  /** Returns the statements since the previous call. */
  take(): string[]
}

export interface DatabaseInternals extends Runner {
  readonly engine: Engine
  /** The database that this transaction belongs to, or the database itself. */
  readonly root: Database
  /** Whether the caller runs inside `unitOfWork()`, so that it must not share its statements. */
  isInUnitOfWork(): boolean
  /** The record of statements that do not run. `null` for a database that runs them. */
  readonly record: StatementRecord | null
  /**
   * Returns a transaction on this database that executes reads, and records all other statements in
   * `record` instead of executing them.
   */
  recordWrites(record: StatementRecord): Database
  /**
   * Returns a view of the same database or transaction that throws the result of `change` in place
   * of each error.
   */
  changeErrors(change: TranslateError): Database
}

/**
 * Translates an error of the database into another error. Keep the original one as `cause`: it
 * determines the kind of the failure.
 */
export type TranslateError = (error: unknown) => unknown

export interface DatabaseWithInternals {
  readonly [internals]: DatabaseInternals
}

export function internalsOf(database: object): DatabaseInternals {
  return (database as DatabaseWithInternals)[internals]
}
