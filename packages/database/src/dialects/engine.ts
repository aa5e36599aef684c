import type { Dialect as KyselyDialect } from 'kysely'

export type Dialect = 'sqlite' | 'postgres' | 'mysql'

/** How a dialect's SQL is written, without how it is run. */
export type SqlFlavour = Pick<
  KyselyDialect,
  'createAdapter' | 'createQueryCompiler' | 'createIntrospector'
>

/** One SQL text with what an engine needs to know to run it well. */
export interface Query {
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

export interface QueryResult {
  readonly rows: unknown[]
  /** Rows matched by an update or delete, inserted by an insert, 0 for a select. */
  readonly affected: number
  readonly insertId?: number | undefined
}

/** Runs queries, either on any free connection or on one that is held. */
export interface Runner {
  run(query: Query, values: readonly unknown[]): Promise<QueryResult>
}

/** One connection held by one caller. Nothing here is safe to call twice at a time. */
export interface Session extends Runner {
  /** `wait` is how long, in milliseconds, to wait for a lock that opening the transaction needs. */
  begin(wait: number): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  /** Takes a lock that one session on any machine holds at a time, until this one is released. */
  lock(name: string, wait: number): Promise<void>
  /** Gives the connection back; a `broken` one is closed. */
  release(broken: boolean): Promise<void>
}

/** What one database product can do; the only interface with three implementations. */
export interface Engine extends Runner {
  readonly dialect: Dialect
  readonly flavour: SqlFlavour
  /** `UPDATE … RETURNING` exists. */
  readonly updatesReturnRows: boolean
  /** `WITH claimed AS (UPDATE … RETURNING …) INSERT …` exists. */
  readonly ctesCanWrite: boolean
  /** `CREATE TABLE` and the like commit the transaction they are in. */
  readonly schemaChangesCommit: boolean
  /** How exact text is declared, after the type and its length. */
  readonly exactText: string
  /** Milliseconds that a round of writes which go together keeps the next round waiting. */
  readonly patience: number
  reserve(): Promise<Session>
  close(): Promise<void>
}

export interface EngineOptions {
  readonly poolSize: number
  readonly timeout: number
  /** SQLite: an empty database may be begun where one was before. */
  readonly beginAnew: boolean
}
