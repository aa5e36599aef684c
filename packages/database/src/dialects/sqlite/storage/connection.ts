import type Libsql from 'libsql'
import { importDriver } from '../../../connections/import-driver.ts'
import { type StorableValue, toStorables } from '../../../values.ts'
import type { Query, QueryResult } from '../../engine.ts'

interface CachedStatement {
  readonly statement: Libsql.Statement
  readonly returnsRows: boolean
}

const CACHED_STATEMENTS = 256

type ExecAside = (this: Libsql.Database, sql: string) => Promise<void>

/** The classes of the package `libsql`. */
export interface SqliteDriver {
  readonly Handle: typeof Libsql
  /**
   * The asynchronous class of the driver. It works on the handles of the synchronous one, on a
   * separate thread.
   */
  readonly execAside: ExecAside
}

export async function importSqlite(): Promise<SqliteDriver> {
  const [{ default: Handle }, { default: Aside }] = await importDriver('libsql', () =>
    Promise.all([import('libsql'), import('libsql/promise')]),
  )
  return { Handle, execAside: Aside.prototype.exec as ExecAside }
}

/**
 * One open handle on an SQLite file, with its prepared statements. Every method except `execAside`
 * is synchronous.
 *
 * The driver never resets a failed statement. A statement that SQLite rejected with "busy" stays
 * active, and until it is run again no automatic commit of its connection takes place. Therefore
 * every write must happen between BEGIN IMMEDIATE and COMMIT, both through `exec`, which always
 * drops its statement.
 */
export class SqliteConnection {
  readonly #handle: Libsql.Database
  readonly #execAside: ExecAside
  readonly #statements = new Map<string, CachedStatement>()

  /** `address` is `:memory:` or a `file:` URL. */
  constructor(address: string, { Handle, execAside }: SqliteDriver) {
    this.#handle = new Handle(address)
    this.#execAside = execAside
    // A short synchronous wait costs less than a timer. Longer waits do not block Node.
    this.exec('pragma busy_timeout = 4')
  }

  exec(sql: string): void {
    this.#handle.exec(sql)
  }

  /**
   * Runs SQL on another thread. Until it resolves, nothing else may use this connection: Node would
   * block.
   */
  execAside(sql: string): Promise<void> {
    return this.#execAside.call(this.#handle, sql)
  }

  get inTransaction(): boolean {
    return this.#handle.inTransaction
  }

  run(query: Query, values: readonly unknown[]): QueryResult {
    const storables = toStorables(values, (date) => date.getTime()).map(asInteger)
    const { statement, returnsRows } = this.#prepare(query.sql)
    if (returnsRows) {
      const rows = statement.all(storables)
      return { rows, affected: query.readOnly ? 0 : rows.length }
    }
    const { changes, lastInsertRowid } = statement.run(storables)
    return { rows: [], affected: changes, insertId: Number(lastInsertRowid) }
  }

  /**
   * Closes the handle. The driver closes the file when the last prepared statement is
   * garbage-collected, or the process ends.
   */
  close(): void {
    this.#statements.clear()
    this.#handle.close()
  }

  #prepare(sql: string): CachedStatement {
    const cached = this.#statements.get(sql)
    if (cached) return cached
    const statement = this.#handle.prepare(sql)
    const fresh = { statement, returnsRows: statement.reader }
    const oldest = this.#statements.keys().next()
    if (this.#statements.size >= CACHED_STATEMENTS && !oldest.done) {
      this.#statements.delete(oldest.value)
    }
    this.#statements.set(sql, fresh)
    return fresh
  }
}

export function isSqliteBusyError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')
}

/**
 * Whether the statement that failed with this error may still be active. SQLite itself ends a
 * failed statement, except after a "busy" or "locked" error. After an error of the driver's own,
 * nothing has ended the statement.
 */
export function mayStatementStillBeActive(error: unknown): boolean {
  if (error instanceof TypeError) return false
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return isSqliteBusyError(error) || !code.startsWith('SQLITE_')
}

/**
 * Converts integers to `bigint`. libsql binds every number as a float, which a text column would
 * store as "5.0".
 */
function asInteger(value: StorableValue): StorableValue {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}
