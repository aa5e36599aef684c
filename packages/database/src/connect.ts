import { builtInDialects } from './built-in-dialects.ts'
import { parseConnectionUrl } from './connection-url.ts'
import type { Database } from './database.ts'
import type { AnyTables } from './definitions.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Engine } from './dialects/engine.ts'
import { MissingPackage, markErrorKinds } from './errors.ts'
import { createDatabase } from './open-database.ts'
import { createRetry } from './statements/retry.ts'

/** Options for `connect()`. */
export interface ConnectOptions {
  /**
   * Largest number of connections to a database server. SQLite ignores it.
   * @default 10
   */
  readonly poolSize?: number
  /**
   * Milliseconds that a caller waits for a connection or for an ordinary statement.
   * @default 1500
   */
  readonly timeout?: number
  /**
   * SQLite: whether to create an empty database if the previous file is missing or empty. By
   * default `connect()` then fails with an error that explains what to do.
   * @default false
   */
  readonly beginAnew?: boolean
  /**
   * Largest accepted difference in milliseconds between the clock of this process and the
   * database's clock. If the difference is larger, this process issues no tokens, deletes no
   * expired rows and takes no work from queues.
   * @default 60000
   */
  readonly maxClockSkew?: number
  /**
   * Whether this process records the time in the database after `clock.begin()`. Use `false` for
   * short-lived commands.
   * @default true
   */
  readonly recordsTime?: boolean
  /**
   * Additional dialects. They take precedence over the built-in ones that handle the same URL
   * scheme.
   */
  readonly dialects?: readonly Dialect[]
  /**
   * Called just before each statement runs, and again for each retry. Not called for BEGIN, COMMIT,
   * ROLLBACK, locks and session settings.
   */
  readonly onQuery?: (sql: string) => void
}

/**
 * Opens a database and checks that it responds. Creates no tables: see `migrate()`.
 *
 * @throws {TypeError} if the URL or an option is not valid.
 * @throws {MissingPackage} if the driver for the URL is not installed.
 * @throws {Error} if the database cannot be opened or does not respond.
 * @example
 * ```ts
 * const database = await connect('sqlite:./data/app.db') // or sqlite::memory:, file:./data/app.db
 * // await connect('postgres://user:secret@db.internal/app')
 * // await connect('mysql://user:secret@db.internal/app') // or mariadb:
 * const users = await database.kysely.selectFrom('users').selectAll().execute()
 * await database.close()
 * ```
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
    markErrorKinds(cause, dialect.errorKind)
    await engine?.close()
    const reason = cause instanceof Error ? cause.message || String(cause) : String(cause)
    throw new Error(`Cannot open the database ${target.shown}: ${reason}`, { cause })
  }
}

function checkWholeNumber(name: string, value: number): void {
  if (Number.isInteger(value) && value > 0) return
  throw new TypeError(`The option "${name}" is ${value}; expected a whole number above 0`)
}
