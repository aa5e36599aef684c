/** The database has been migrated by a newer build than this one. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew'
}

/** Gave up waiting for a connection or a lock. {@link isUnavailable} is true for it. */
export class WaitedTooLong extends Error {
  override readonly name = 'WaitedTooLong'
  readonly code = 'TOLLGATE_WAITED_TOO_LONG'
}

/**
 * The database was asked and has not said that it is done: the work may have happened or not, or may
 * still be undone by a failover. {@link isUnavailable} is true for it.
 */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly code = 'TOLLGATE_NO_ANSWER'
}

/** The connection is well, but someone else took too long. */
const tooSlow = new Set([
  'TOLLGATE_WAITED_TOO_LONG',
  '57014', // Postgres: statement timeout
  '55P03', // Postgres: lock timeout
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_STATEMENT_TIMEOUT',
  'ER_QUERY_TIMEOUT',
])

/** The connection is lost, was refused, or leads to a server that cannot do its work. */
const brokenConnection = new Set([
  'TOLLGATE_FILE_GONE',
  'TOLLGATE_NO_ANSWER',
  // the network
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  // Postgres: shutting down, starting up, too many connections, out of resources, read-only standby
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53000',
  '53100',
  '53200',
  '53300',
  '53400',
  '25006',
  '25P03',
  '58030',
  // MySQL and MariaDB
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR',
  'PROTOCOL_ENQUEUE_AFTER_QUIT',
  'POOL_CLOSED',
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
  'ER_SERVER_SHUTDOWN',
  'ER_NORMAL_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  'ER_QUERY_INTERRUPTED',
  'ER_DISK_FULL',
  'ER_RECORD_FILE_FULL',
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_READ_ONLY_MODE',
  'ER_ERROR_ON_WRITE',
  // Galera: the node has lost the others, or is not with them yet; a commit whose end is not known
  'ER_UNKNOWN_COM_ERROR',
  'ER_ERROR_DURING_COMMIT',
])
/** MySQL and MariaDB give a full disk, a quota or a file system that became read-only as a number. */
const storageRefuses = /error:? (?:28|30|122|135|136)\b/i
const brokenSqlite = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|NOTADB|CORRUPT|PROTOCOL)/
/** The drivers give these no code. */
const brokenMessage =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|Pool is closed|The database connection is not open|ConnectionFailed)/

/**
 * True when the database could not be asked, or gave up, through no fault of the request: it is
 * away, starting, failing over, out of connections or disk, or others are in the way for too long.
 * The right answer to the caller is "try again soon" (503), never a verdict about the request.
 */
export function isUnavailable(error: unknown): boolean {
  return (
    breaksConnection(error) ||
    someCause(error, ({ code }) => code !== undefined && tooSlow.has(code)) ||
    // what may be retried was retried before a caller could see it
    isRetryable(error)
  )
}

/** True when the connection should be closed and not be used again. */
export function breaksConnection(error: unknown): boolean {
  return someCause(error, ({ code, message, fatal }) => {
    if (code === undefined) return brokenMessage.test(message)
    if (code === 'ER_GET_ERRNO') return storageRefuses.test(message)
    return fatal || brokenConnection.has(code) || code.startsWith('08') || brokenSqlite.test(code)
  })
}

/** True when a row with the same unique key is already there. */
export function isUniqueViolation(error: unknown): boolean {
  return someCause(
    error,
    ({ code }) =>
      code === '23505' ||
      code === 'ER_DUP_ENTRY' ||
      code === 'SQLITE_CONSTRAINT_UNIQUE' ||
      code === 'SQLITE_CONSTRAINT_PRIMARYKEY' ||
      code === 'SQLITE_CONSTRAINT_ROWID',
  )
}

/**
 * True when a value cannot be one of its column, such as `1abc` of a number or a NUL in text: then no
 * row has it. Postgres says so, and MySQL of letters that its column's alphabet lacks; otherwise they find
 * no row, or one that is only similar.
 */
export function isImpossibleValue(error: unknown): boolean {
  return someCause(
    error,
    ({ code }) =>
      code === '22P02' ||
      code === '22003' ||
      code === '22021' ||
      code === 'ER_CANT_AGGREGATE_2COLLATIONS',
  )
}

/**
 * True when the database rolled the work back and doing it again may succeed: a deadlock, a
 * serialization failure or a stale plan.
 */
export function isRetryable(error: unknown): boolean {
  return (
    isStalePlan(error) ||
    someCause(
      error,
      ({ code }) =>
        code === '40001' ||
        code === '40P01' ||
        code === 'ER_LOCK_DEADLOCK' ||
        code === 'ER_CHECKREAD',
    )
  )
}

/** True when Postgres prepared the statement before the schema changed, or has forgotten it. */
export function isStalePlan(error: unknown): boolean {
  return someCause(
    error,
    ({ code, message }) =>
      code === '26000' || (code === '0A000' && message.startsWith('cached plan must not change')),
  )
}

interface Cause {
  readonly code: string | undefined
  readonly message: string
  readonly fatal: boolean
}

function someCause(error: unknown, test: (cause: Cause) => boolean): boolean {
  for (let depth = 0; error instanceof Error && depth < 8; depth++) {
    const { code, fatal } = error as { code?: unknown; fatal?: unknown }
    const cause = {
      code: typeof code === 'string' && code !== '' ? code : undefined,
      message: error.message,
      // mysql2 marks what ended the connection; a refused password or database name is not that
      fatal: fatal === true && typeof code === 'string' && !/^ER_.*DENIED|^ER_BAD_DB/.test(code),
    }
    if (test(cause)) return true
    if (error instanceof AggregateError && error.errors.some((e) => someCause(e, test))) return true
    error = error.cause
  }
  return false
}
