import type { Query, QueryResult } from '../../engine.ts'
import { isBusy, type SqliteConnection } from './connection.ts'

export interface SqliteWriterOptions {
  readonly connection: SqliteConnection
  /** Makes another one, should that one fail. */
  reconnect(): SqliteConnection
  /** Whether a commit waits for a disk. */
  readonly waitsForDisk: boolean
}

/**
 * The one connection of this process that writes, for one caller at a time. Nothing is written outside of
 * an explicit transaction: SQLite refuses an explicit COMMIT while another statement is still under way,
 * where it puts off an automatic one without a word. So what `commit()` has resolved is committed, whatever
 * happened before on this connection.
 */
export class SqliteWriter {
  readonly #options: SqliteWriterOptions
  #connection: SqliteConnection | null
  /** Something failed, and nobody has yet shown that nothing is left of it. */
  #doubted = false
  #closed = false

  constructor(options: SqliteWriterOptions) {
    this.#options = options
    this.#connection = options.connection
  }

  get inTransaction(): boolean {
    return this.#connection?.inTransaction ?? false
  }

  begin(): void {
    if (this.#doubted) this.#prove()
    this.#open().exec('begin immediate')
  }

  run(query: Query, values: readonly unknown[]): QueryResult {
    return this.#open().run(query, values)
  }

  /** Resolves when it is on the disk. Until it settles nothing else may be asked of the writer. */
  async commit(): Promise<void> {
    const connection = this.#open()
    if (this.#options.waitsForDisk) await connection.execAside('commit')
    else connection.exec('commit')
    if (connection.inTransaction) throw new Error('SQLite said yes to a commit and did not commit')
  }

  /** Moves what is in the write-ahead log into the file, as far as other processes let it. */
  async checkpoint(): Promise<void> {
    await this.#open().execAside('pragma wal_checkpoint(truncate)')
  }

  /** After anything that failed: leaves a connection that holds nothing. */
  abandon(): void {
    this.#doubted = true
    try {
      if (this.inTransaction) this.#connection?.exec('rollback')
      // Somebody was stopped while changing a table's own statement: a setting, which no rollback takes back.
      this.#connection?.exec('pragma writable_schema = off')
      this.#prove()
    } catch (error) {
      // Another process writes, and nothing can be shown now: then before the next transaction.
      if (!isBusy(error)) this.#replace()
    }
  }

  close(): void {
    this.#closed = true
    this.#connection?.close()
    this.#connection = null
  }

  /** A connection that can commit has no statement under way. Any other is replaced. */
  #prove(): void {
    const connection = this.#open()
    connection.exec('begin immediate')
    try {
      connection.exec('commit')
    } catch {
      // shows in the next line
    }
    if (connection.inTransaction) this.#replace()
    this.#doubted = false
  }

  #replace(): void {
    const old = this.#connection
    this.#connection = null
    this.#doubted = false
    try {
      // The driver closes it some time later, and until then it must not keep others out.
      if (old?.inTransaction) old.exec('rollback')
    } catch {
      // has been tried
    }
    old?.close()
  }

  #open(): SqliteConnection {
    if (this.#closed) throw new Error('The database connection is not open')
    this.#connection ??= this.#options.reconnect()
    return this.#connection
  }
}
