import type { Query, QueryResult } from '../../engine.ts'
import { mayStatementStillBeActive, type SqliteConnection } from './connection.ts'
import { retryWhileLocked } from './until-free.ts'

/** The connection that only reads, so that a long transaction blocks no reader. */
export class SqliteReader {
  readonly #connect: () => SqliteConnection
  #connection: SqliteConnection | null = null

  constructor(connect: () => SqliteConnection) {
    this.#connect = connect
  }

  /**
   * Runs a query. Replaces the connection if the failed statement may still be active: it would pin
   * its snapshot, so that every later read would miss newer writes, such as revocations.
   */
  async run(query: Query, values: readonly unknown[], wait: number): Promise<QueryResult> {
    try {
      return await retryWhileLocked(() => {
        this.#connection ??= this.#connect()
        return this.#connection.run(query, values)
      }, wait)
    } catch (error) {
      if (mayStatementStillBeActive(error)) this.close()
      throw error
    }
  }

  close(): void {
    this.#connection?.close()
    this.#connection = null
  }
}
