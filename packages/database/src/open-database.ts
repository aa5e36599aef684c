import type { Compilable, Kysely } from 'kysely'
import { prepareClaimThenInsert, prepareUpdateOneReturning } from './batching/claim.ts'
import { createDatabaseClock, type ManagedDatabaseClock } from './clock/create-clock.ts'
import {
  type Claim,
  type Database,
  type DatabaseInternals,
  type DatabaseWithInternals,
  internals,
  internalsOf,
  type Statement,
  type StatementRecord,
  type TranslateError,
} from './database.ts'
import type { ClockOptions } from './database-clock.ts'
import type { ClaimThenInsert, ParamBuilder, UpdateOne } from './definitions.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { ConnectionCounts, Engine, Runner } from './dialects/engine.ts'
import { createLocksTable, LOCK_WAIT_MS } from './locks/locks-table.ts'
import {
  withTranslatedErrors,
  withTranslatedTransactionErrors,
} from './statements/change-errors.ts'
import { createKysely } from './statements/kysely-driver.ts'
import { createRecordingRunner } from './statements/recording.ts'
import { prepareStatement } from './statements/statement.ts'
import {
  createStatementRunner,
  runInTransaction,
  type TransactionOptions,
  type TransactionRunner,
} from './statements/transaction.ts'
import { createUnitsOfWork, type UnitsOfWork } from './statements/units.ts'

/**
 * Returns a view of the same database or transaction that throws the result of `change` in place of
 * each error. Keep the original error as `cause` of the new one: deadlocks are then still retried,
 * and `isUnavailable()` still recognizes it.
 * @example
 * ```ts
 * const database = withErrors(await connect(url), (error) =>
 *   isUnavailable(error) ? new ServiceUnavailable({ cause: error }) : error)
 * ```
 */
export function withErrors<T>(database: Database<T>, change: TranslateError): Database<T> {
  return internalsOf(database).changeErrors(change) as Database<T>
}

export interface DatabaseOptions extends TransactionOptions {
  readonly clock: ClockOptions
}

/**
 * Creates a `Database` for an open engine. Reads the database's clock first, which shows that the
 * database responds.
 */
export async function createDatabase<T>(
  engine: Engine,
  options: DatabaseOptions,
): Promise<Database<T>> {
  const database = new OpenDatabase<T>(engine, options, createStatementRunner(engine, options))
  await database.clock.measure()
  return database
}

/**
 * State that a transaction, or a database with changed errors, shares with the original database.
 */
interface SharedDatabaseState<T> {
  readonly root?: Database<T>
  readonly transaction?: TransactionRunner
  readonly clock?: ManagedDatabaseClock
  readonly units?: UnitsOfWork
  readonly changesErrors?: TranslateError
  readonly record?: StatementRecord
}

class OpenDatabase<T> implements Database<T>, DatabaseWithInternals {
  readonly dialect: Dialect
  readonly timeout: number
  readonly clock: ManagedDatabaseClock
  readonly [internals]: DatabaseInternals
  readonly #options: DatabaseOptions
  readonly #transaction: TransactionRunner | undefined
  readonly #units: UnitsOfWork
  readonly #changesErrors: TranslateError | undefined
  #kysely: Kysely<T> | undefined
  #closed: Promise<void> | undefined
  #locksTable: Promise<void> | undefined

  constructor(
    engine: Engine,
    options: DatabaseOptions,
    runner: Runner,
    within: SharedDatabaseState<T> = {},
  ) {
    this.dialect = options.dialect
    this.timeout = options.timeout
    this.#options = options
    this.#transaction = within.transaction
    this.#units = within.units ?? createUnitsOfWork()
    this.#changesErrors = within.changesErrors
    this[internals] = {
      engine,
      root: within.root ?? this,
      run: (query, values) => (this.#joined() ?? runner).run(query, values),
      isInUnitOfWork: () => this.#joined() !== undefined,
      record: within.record ?? null,
      recordWrites: (record) => this.#recordWrites(record),
      changeErrors: (change) => this.#changeErrors(change),
    }
    this.clock = within.clock ?? createDatabaseClock(this, options.clock)
  }

  get kysely(): Kysely<T> {
    this.#kysely ??= createKysely<T>(this.dialect.flavour, this[internals])
    return this.#kysely
  }

  statement<Params extends object, Row = unknown>(
    build: (db: Kysely<T>, param: ParamBuilder<Params>) => Compilable,
  ): Statement<Params, Row> {
    return prepareStatement(this, build)
  }

  updateOneReturning<Params extends object, Row>(update: UpdateOne<T, Params>): Claim<Params, Row> {
    return prepareUpdateOneReturning<T, Params, Row>(this, update)
  }

  claimThenInsert<Params extends object, Row>(
    definition: ClaimThenInsert<T, Params>,
  ): Claim<Params, Row> {
    return prepareClaimThenInsert<T, Params, Row>(this, definition)
  }

  async transaction<R>(work: (tx: Database<T>) => Promise<R>): Promise<R> {
    if (this.#transaction) return work(this)
    const joined = this.#joined()
    if (joined) return work(this.#bind(joined))
    return runInTransaction(this[internals].engine, this.#options, (transaction) =>
      work(this.#bind(transaction)),
    )
  }

  async unitOfWork<R>(work: () => Promise<R>): Promise<R> {
    if (this.#transaction) throw new Error('Call unitOfWork() on the database, not a transaction')
    if (this.#joined()) return work()
    const { result, later } = await runInTransaction(
      this[internals].engine,
      this.#options,
      (transaction) => this.#units.run(transaction, work),
    )
    for (const run of later) run()
    return result
  }

  afterCommit(run: () => void): void {
    this.#units.afterCommit(run)
  }

  /** The transaction of the unit of work that the caller runs in, if any. */
  #joined(): TransactionRunner | undefined {
    if (this.#transaction) return undefined
    const unit = this.#units.current()
    if (!unit || !this.#changesErrors) return unit
    return withTranslatedTransactionErrors(unit, this.dialect, this.#changesErrors)
  }

  async exclusively<R>(name: string, work: (tx: Database<T>) => Promise<R>): Promise<R> {
    const { engine, root } = this[internals]
    const transaction = this.#transaction ?? this.#joined()
    if (transaction) {
      // Created outside of the transaction, which `create table` would commit. Usually the table
      // exists already.
      if (this.dialect.schema.changesCommit && root instanceof OpenDatabase) {
        await root.#ensureLocksTable().catch(() => {})
      }
      await transaction.lock(name, LOCK_WAIT_MS)
      return work(this.#transaction ? this : this.#bind(transaction))
    }
    if (this.dialect.schema.changesCommit) await this.#ensureLocksTable()
    const patient = { ...this.#options, timeout: LOCK_WAIT_MS }
    return runInTransaction(engine, patient, async (transaction) => {
      await transaction.lock(name, LOCK_WAIT_MS)
      return work(this.#bind(transaction))
    })
  }

  connections(): ConnectionCounts | null {
    return this[internals].engine.connections?.() ?? null
  }

  #changeErrors(change: TranslateError): Database<T> {
    const options = this.#options
    const { clock } = this
    const units = this.#units
    const earlier = this.#changesErrors
    const changesErrors: TranslateError = earlier ? (error) => change(earlier(error)) : change
    const engine = withTranslatedErrors(this[internals].engine, this.dialect, change)
    if (!this.#transaction) {
      const within = { clock, units, changesErrors }
      return new OpenDatabase<T>(engine, options, createStatementRunner(engine, options), within)
    }
    const transaction = withTranslatedTransactionErrors(this.#transaction, this.dialect, change)
    const root = this[internals].root as Database<T>
    return new OpenDatabase<T>(engine, options, transaction, { root, transaction, clock, units })
  }

  #recordWrites(record: StatementRecord): Database<T> {
    const transaction = createRecordingRunner(this[internals], record)
    const within = { root: this, transaction, clock: this.clock, units: this.#units, record }
    return new OpenDatabase<T>(this[internals].engine, this.#options, transaction, within)
  }

  #ensureLocksTable(): Promise<void> {
    this.#locksTable ??= createLocksTable(this).catch((error) => {
      this.#locksTable = undefined
      throw error
    })
    return this.#locksTable
  }

  async close(): Promise<void> {
    if (this.#transaction) throw new Error('Close the database, not its transaction')
    this.#closed ??= this.clock.end().then(() => this[internals].engine.close())
    await this.#closed
  }

  #bind(transaction: TransactionRunner): Database<T> {
    const within = { root: this, transaction, clock: this.clock, units: this.#units }
    return new OpenDatabase<T>(this[internals].engine, this.#options, transaction, within)
  }
}
