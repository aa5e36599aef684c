import type { AnyTables } from './any-tables.ts'
import { builtInDialects } from './built-in-dialects.ts'
import { parseConnectionUrl } from './connection-url.ts'
import type { Database } from './database.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Engine } from './dialects/engine.ts'
import { MissingPackage, markKinds } from './errors.ts'
import { createDatabase } from './open-database.ts'
import { createRetry } from './statements/retry.ts'

/** What `connect()` can be told. */
export interface ConnectOptions {
  /** Connections to a database server, at most. Defaults to 10; SQLite needs none. */
  readonly poolSize?: number
  /** Milliseconds a caller waits for a connection or an ordinary statement. Defaults to 1500. */
  readonly timeout?: number
  /**
   * SQLite: begin an empty database where one was before and its file is now missing or empty. Defaults to
   * false: such a start is refused, and the error says what to do.
   */
  readonly beginAnew?: boolean
  /**
   * Milliseconds by which the clock of this process and the database's may differ. Beyond them this process issues
   * nothing, purges nothing and takes no work from queues. Defaults to 60,000.
   */
  readonly maxClockSkew?: number
  /**
   * Whether this process records the time in the database once `clock.begin()` was called. Defaults to true; false for
   * commands that end soon.
   */
  readonly recordsTime?: boolean
  /** Kinds of databases of your own. They come before the built-in ones, where both know a URL's scheme. */
  readonly dialects?: readonly Dialect[]
  /**
   * Told of every statement just before it runs, also each time one is retried. Not of what only
   * holds statements together: BEGIN, COMMIT, ROLLBACK, locks and session settings.
   */
  readonly onQuery?: (sql: string) => void
}

/**
 * Opens a database and checks that it answers.
 * @example
 * await connect('sqlite:./data/app.db')          // or sqlite::memory:, file:./data/app.db
 * await connect('postgres://user:secret@db.internal/app')
 * await connect('mysql://user:secret@db.internal/app')   // or mariadb:
 */
export async function connect<T = AnyTables>(
  url: string | undefined,
  options: ConnectOptions = {},
): Promise<Database<T>> {
  const { poolSize = 10, timeout = 1500, beginAnew = false, dialects = [], onQuery } = options
  const { maxClockSkew = 60_000, recordsTime = true } = options
  const target = parseConnectionUrl(url, [...dialects, ...builtInDialects])
  const { dialect } = target
  checkWholeNumber('poolSize', poolSize)
  checkWholeNumber('timeout', timeout)
  checkWholeNumber('maxClockSkew', maxClockSkew)
  let engine: Engine | undefined
  try {
    engine = await dialect.open(target.url, { poolSize, timeout, beginAnew })
    const retry = createRetry(timeout, dialect.errorKind)
    const clock = { maxSkew: maxClockSkew, records: recordsTime }
    return await createDatabase<T>(engine, { dialect, timeout, onQuery, retry, clock })
  } catch (cause) {
    if (cause instanceof MissingPackage) throw cause
    markKinds(cause, dialect.errorKind)
    await engine?.close()
    const reason = cause instanceof Error ? cause.message || String(cause) : String(cause)
    throw new Error(`Cannot open the database ${target.shown}: ${reason}`, { cause })
  }
}

function checkWholeNumber(name: string, value: number): void {
  if (Number.isInteger(value) && value > 0) return
  throw new TypeError(`The option "${name}" is ${value}; expected a whole number above 0`)
}
