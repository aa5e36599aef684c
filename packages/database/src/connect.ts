import type { AnyTables } from './any-tables.ts'
import { parseConnectionUrl } from './connection-url.ts'
import type { Database } from './database.ts'
import type { Engine, EngineOptions } from './dialects/engine.ts'
import { openMysql } from './dialects/mysql/engine.ts'
import { openPostgres } from './dialects/postgres/engine.ts'
import { openSqlite } from './dialects/sqlite/engine.ts'
import { createDatabase } from './open-database.ts'
import { createRetry } from './statements/retry.ts'

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
  const target = parseConnectionUrl(url)
  const { poolSize = 10, timeout = 1500, beginAnew = false } = options
  checkWholeNumber('poolSize', poolSize)
  checkWholeNumber('timeout', timeout)
  let engine: Engine | undefined
  try {
    engine = await open(target, { poolSize, timeout, beginAnew })
    await engine.run({ sql: 'select 1 as one', readOnly: true }, [])
  } catch (cause) {
    await engine?.close()
    const reason = cause instanceof Error ? cause.message || String(cause) : String(cause)
    throw new Error(`Cannot open the database ${target.shown}: ${reason}`, { cause })
  }
  return createDatabase<T>(engine, {
    timeout,
    onQuery: options.onQuery,
    retry: createRetry(timeout),
  })
}

async function open(
  target: ReturnType<typeof parseConnectionUrl>,
  options: EngineOptions,
): Promise<Engine> {
  switch (target.dialect) {
    case 'sqlite':
      return openSqlite(target.path, options)
    case 'postgres':
      return openPostgres(target.url, options)
    case 'mysql':
      return openMysql(target.url, options)
  }
}

function checkWholeNumber(name: string, value: number): void {
  if (Number.isInteger(value) && value > 0) return
  throw new TypeError(`The option "${name}" is ${value}; expected a whole number above 0`)
}
