/** One SQL text with what an engine needs to know to run it well. */
export interface Query {
  /** The text, with the placeholders of its dialect. */
  readonly sql: string
  /** Set for statements that run again and again; Postgres prepares them under this name. */
  readonly name?: string
  /** The best plan depends on how large the table is by then. */
  readonly followsSize?: boolean
  /** True only when it certainly changes nothing. */
  readonly readOnly?: boolean
  /** A duplicate key then means "nothing inserted" and not an error. */
  readonly duplicateIsNoop?: boolean
}

/** What one query came to. */
export interface QueryResult {
  /** Empty unless the query returns rows. */
  readonly rows: unknown[]
  /** Rows matched by an update or delete, inserted by an insert, 0 for a select. */
  readonly affected: number
  /** The number that a `counter` column gave the row inserted, where the driver says it. */
  readonly insertId?: number | undefined
}

/** Runs queries, either on any free connection or on one that is held. */
export interface Runner {
  /** Values may be of any type: `toStorables()` refuses what databases store differently. */
  run(query: Query, values: readonly unknown[]): Promise<QueryResult>
}

/** One connection held by one caller. Nothing here is safe to call twice at a time. */
export interface Session extends Runner {
  /** `wait` is how long, in milliseconds, to wait for a lock that opening the transaction needs. */
  begin(wait: number): Promise<void>
  /** Resolves when the transaction is as durable as the database makes it. */
  commit(): Promise<void>
  /** Not called on a connection that is known to be broken. */
  rollback(): Promise<void>
  /** Takes a lock that one session on any machine holds at a time, until this one is released. */
  lock(name: string, wait: number): Promise<void>
  /** Gives the connection back; a `broken` one is closed. */
  release(broken: boolean): Promise<void>
}

/** A database that is open. */
export interface Engine extends Runner {
  /** How text that compares exactly is declared after its type: by a collation, or by nothing. */
  readonly exactText: string
  /** Waits for a free connection and holds it. */
  reserve(): Promise<Session>
  /**
   * Closes every connection there is as soon as it is free, because it may lead to the wrong server. Called when a
   * connection turned out to do so. May be left out where there is one server only.
   */
  renew?(): void
  /** Lets what is under way finish, then closes every connection. */
  close(): Promise<void>
}

/** What `connect()` was asked for, with the defaults filled in. */
export interface EngineOptions {
  /** Connections, at most. */
  readonly poolSize: number
  /** Milliseconds a caller waits for a connection or an ordinary statement. */
  readonly timeout: number
  /** An empty database may be begun where one was before; for dialects that keep a file. */
  readonly beginAnew: boolean
}
