import Libsql from 'libsql'
import type { Query, QueryResult } from './engine.ts'
import { type Storable, toStorables } from './values.ts'

interface CachedStatement {
  readonly statement: Libsql.Statement
  readonly returnsRows: boolean
}

const CACHED_STATEMENTS = 256

/** One open handle on an SQLite file, with its prepared statements. Everything here is synchronous. */
export class SqliteConnection {
  readonly #handle: Libsql.Database
  readonly #statements = new Map<string, CachedStatement>()

  constructor(path: string) {
    this.#handle = new Libsql(path)
    // A short synchronous wait costs less than a timer; longer waits happen without blocking Node.
    this.exec('pragma busy_timeout = 4')
  }

  exec(sql: string): void {
    this.#handle.exec(sql)
  }

  get inTransaction(): boolean {
    return this.#handle.inTransaction
  }

  run(query: Query, values: readonly unknown[]): QueryResult {
    const storables = toStorables(values).map(asInteger)
    const { statement, returnsRows } = this.#prepare(query.sql)
    if (returnsRows) {
      const rows = statement.all(storables)
      return { rows, affected: query.readOnly ? 0 : rows.length }
    }
    const { changes, lastInsertRowid } = statement.run(storables)
    return { rows: [], affected: changes, insertId: Number(lastInsertRowid) }
  }

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

/** libsql binds every number as a float, which text columns would keep as "5.0". */
function asInteger(value: Storable): Storable {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}
