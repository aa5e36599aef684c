import type { Query, QueryResult } from '../../engine.ts'
import { isSqliteBusyError, type SqliteConnection } from './connection.ts'

export interface SqliteWriterOptions {
  readonly connection: SqliteConnection
  /** Opens a new connection to replace one that failed. */
  reconnect(): SqliteConnection
  /** Whether a commit waits for a disk. */
  readonly waitsForDisk: boolean
}

/**
 * The only connection of this process that writes, for one caller at a time. Everything is written
 * in an explicit transaction: while another statement is active, SQLite rejects an explicit COMMIT
 * but silently defers an automatic one. Therefore the data is committed once `commit()` has
 * resolved, whatever happened on this connection before.
 */
export class SqliteWriter {
  readonly #options: SqliteWriterOptions
  #connection: SqliteConnection | null
  /** Whether something failed and the connection has not yet been shown to be clean. */
  #isSuspect = false
  #closed = false

  constructor(options: SqliteWriterOptions) {
    this.#options = options
    this.#connection = options.connection
  }

  get inTransaction(): boolean {
    return this.#connection?.inTransaction ?? false
  }

  begin(): void {
    if (this.#isSuspect) this.#verify()
    this.#open().exec('begin immediate')
  }

  run(query: Query, values: readonly unknown[]): QueryResult {
    return this.#open().run(query, values)
  }

  /** Resolves when the data is on the disk. Until then no other method may be called. */
  async commit(): Promise<void> {
    const connection = this.#open()
    if (this.#options.waitsForDisk) await connection.execAside('commit')
    else connection.exec('commit')
    if (connection.inTransaction)
      throw new Error('SQLite reported a successful commit, but the transaction is still open')
  }

  /** Copies the write-ahead log into the file, as far as other processes allow. */
  async checkpoint(): Promise<void> {
    await this.#open().execAside('pragma wal_checkpoint(truncate)')
  }

  /** Cleans up after a failure: afterwards the connection has no open transaction. */
  abandon(): void {
    this.#isSuspect = true
    try {
      if (this.inTransaction) this.#connection?.exec('rollback')
      // An operation that was interrupted while editing a table's definition leaves this setting
      // on, and a rollback does not reset it.
      this.#connection?.exec('pragma writable_schema = off')
      this.#verify()
    } catch (error) {
      // If another process is writing, the check is repeated before the next transaction.
      if (!isSqliteBusyError(error)) this.#replace()
    }
  }

  close(): void {
    this.#closed = true
    this.#connection?.close()
    this.#connection = null
  }

  /**
   * Commits an empty transaction, which fails if a statement is still active. In that case,
   * replaces the connection.
   */
  #verify(): void {
    const connection = this.#open()
    connection.exec('begin immediate')
    try {
      connection.exec('commit')
    } catch {
      // detected by the next line
    }
    if (connection.inTransaction) this.#replace()
    this.#isSuspect = false
  }

  #replace(): void {
    const old = this.#connection
    this.#connection = null
    this.#isSuspect = false
    try {
      // The driver closes the connection later. Until then it must not lock out other processes.
      if (old?.inTransaction) old.exec('rollback')
    } catch {
      // best effort
    }
    old?.close()
  }

  #open(): SqliteConnection {
    if (this.#closed) throw new Error('The database connection is not open')
    this.#connection ??= this.#options.reconnect()
    return this.#connection
  }
}
