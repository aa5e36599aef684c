/** One SQL text, with hints for the engine that runs it. */
export interface Query {
  /** The SQL, with the placeholders of the dialect. */
  readonly sql: string
  /** Name under which Postgres prepares the statement. Set for statements that run repeatedly. */
  readonly name?: string
  /**
   * Whether the best plan depends on the size of the table, so that an old plan may become slow.
   */
  readonly followsSize?: boolean
  /** `true` only if the query certainly changes nothing. */
  readonly readOnly?: boolean
  /** Whether a duplicate key means "nothing inserted" instead of an error. */
  readonly duplicateIsNoop?: boolean
}

/** Result of one query. */
export interface QueryResult {
  /** Empty unless the query returns rows. */
  readonly rows: unknown[]
  /** Number of rows matched by an update or delete, or inserted by an insert. 0 for a select. */
  readonly affected: number
  /** The number that a `counter` column assigned to the inserted row, if the driver reports it. */
  readonly insertId?: number | undefined
}

/** Runs queries, either on any free connection or on a reserved one. */
export interface Runner {
  /**
   * Runs a query. Values may be of any type: `toStorables()` rejects those that databases store
   * differently.
   */
  run(query: Query, values: readonly unknown[]): Promise<QueryResult>
}

/** One connection reserved for one caller. Its methods must not be called concurrently. */
export interface Session extends Runner {
  /**
   * Begins a transaction. If this requires a lock, as on databases with a single writer, waits for
   * the lock for at most `wait` milliseconds.
   */
  begin(wait: number): Promise<void>
  /** Commits the transaction. Resolves when the database has confirmed the commit. */
  commit(): Promise<void>
  /** Rolls back. Not called on a connection that is known to be broken. */
  rollback(): Promise<void>
  /**
   * Takes the lock `name`, which only one session on any machine can hold at a time. Holds it until
   * this session is released.
   */
  lock(name: string, wait: number): Promise<void>
  /** Returns the connection to the pool, or closes it if it is `broken`. */
  release(broken: boolean): Promise<void>
}

/** An open database. */
export interface Engine extends Runner {
  /**
   * SQL to append to a text type so that it compares exactly, such as a collation. May be empty.
   */
  readonly exactText: string
  /** Waits for a free connection and reserves it. */
  reserve(): Promise<Session>
  /**
   * Closes every connection as soon as it is free. Called when one connection turned out to lead to
   * a server that is not the primary, because the others may lead there too. Omit it if there is
   * only one server.
   */
  renew?(): void
  /** Counts the connections of the pool. Omit it if there is no pool. */
  connections?(): ConnectionCounts
  /** Waits for running queries, then closes every connection. */
  close(): Promise<void>
}

/** The connections of a pool, at this moment. */
export interface ConnectionCounts {
  /** Largest number of connections. */
  readonly max: number
  /** Number of connections that run a statement or are reserved for a transaction. */
  readonly inUse: number
  /** Number of callers that wait for a connection. */
  readonly waiting: number
}

/** Options of `connect()` with the defaults filled in. */
export interface EngineOptions {
  /** Largest number of connections. */
  readonly poolSize: number
  /** Milliseconds that a caller waits for a connection or for an ordinary statement. */
  readonly timeout: number
  /**
   * Whether an empty database may be created where one existed before. For dialects that store a
   * file.
   */
  readonly beginAnew: boolean
}
