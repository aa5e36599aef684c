import type Libsql from 'libsql'
import { importDriver } from '../../../connections/import-driver.ts'
import { type Storable, toStorables } from '../../../values.ts'
import type { Query, QueryResult } from '../../engine.ts'

interface CachedStatement {
  readonly statement: Libsql.Statement
  readonly returnsRows: boolean
}

const CACHED_STATEMENTS = 256

type ExecAside = (this: Libsql.Database, sql: string) => Promise<void>

/** The package `libsql`, loaded. */
export interface SqliteDriver {
  readonly Handle: typeof Libsql
  /** The driver's second class works on the handles of the first, but on a thread of its own. */
  readonly execAside: ExecAside
}

export async function importSqlite(): Promise<SqliteDriver> {
  const [{ default: Handle }, { default: Aside }] = await importDriver('libsql', () =>
    Promise.all([import('libsql'), import('libsql/promise')]),
  )
  return { Handle, execAside: Aside.prototype.exec as ExecAside }
}

/**
 * One open handle on an SQLite file, with its prepared statements. All but `execAside` is synchronous.
 *
 * The driver never resets a statement that failed. One that SQLite answered with "busy" stays under way,
 * and until it is run again no automatic commit of its connection takes place. So whoever writes does it
 * between BEGIN IMMEDIATE and COMMIT, both by `exec`, which drops its statement whatever happens.
 */
export class SqliteConnection {
  readonly #handle: Libsql.Database
  readonly #execAside: ExecAside
  readonly #statements = new Map<string, CachedStatement>()

  /** `address` is `:memory:` or a `file:` URL. */
  constructor(address: string, { Handle, execAside }: SqliteDriver) {
    this.#handle = new Handle(address)
    this.#execAside = execAside
    // A short synchronous wait costs less than a timer; longer waits happen without blocking Node.
    this.exec('pragma busy_timeout = 4')
  }

  exec(sql: string): void {
    this.#handle.exec(sql)
  }

  /** Node goes on meanwhile, but must ask nothing of this connection: it would stand still. */
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

  /** The file itself is closed when the last prepared statement is collected, or the process ends. */
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

export function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')
}

/**
 * Whether a statement that ended like this may still be under way. SQLite itself ends one that failed,
 * unless it was busy; and the driver leaves one where it is when it fails on its own.
 */
export function mayBeUnderWay(error: unknown): boolean {
  if (error instanceof TypeError) return false
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return isBusy(error) || !code.startsWith('SQLITE_')
}

/** libsql binds every number as a float, which text columns would keep as "5.0". */
function asInteger(value: Storable): Storable {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}
