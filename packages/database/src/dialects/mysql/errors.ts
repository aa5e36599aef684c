import type { ErrorKind, ErrorKindOf } from '../../errors.ts'

const kinds: Readonly<Record<string, ErrorKind>> = {
  ER_LOCK_WAIT_TIMEOUT: 'slow',
  ER_STATEMENT_TIMEOUT: 'slow',
  ER_QUERY_TIMEOUT: 'slow',
  PROTOCOL_CONNECTION_LOST: 'broken',
  PROTOCOL_SEQUENCE_TIMEOUT: 'broken',
  PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR: 'broken',
  PROTOCOL_ENQUEUE_AFTER_QUIT: 'broken',
  POOL_CLOSED: 'broken',
  ER_CON_COUNT_ERROR: 'broken',
  ER_TOO_MANY_USER_CONNECTIONS: 'broken',
  ER_USER_LIMIT_REACHED: 'broken',
  ER_SERVER_SHUTDOWN: 'broken',
  ER_NORMAL_SHUTDOWN: 'broken',
  ER_CONNECTION_KILLED: 'broken',
  ER_QUERY_INTERRUPTED: 'broken',
  ER_DISK_FULL: 'broken',
  ER_RECORD_FILE_FULL: 'broken',
  ER_OPTION_PREVENTS_STATEMENT: 'broken',
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: 'broken',
  ER_READ_ONLY_MODE: 'broken',
  ER_ERROR_ON_WRITE: 'broken',
  // Galera: the node has lost the others, or is not with them yet; a commit whose end is not known
  ER_UNKNOWN_COM_ERROR: 'broken',
  ER_ERROR_DURING_COMMIT: 'broken',
  ER_LOCK_DEADLOCK: 'undone',
  ER_CHECKREAD: 'undone',
  ER_DUP_ENTRY: 'duplicate',
  ER_CANT_AGGREGATE_2COLLATIONS: 'impossible',
}

/** A full disk, a quota or a file system that became read-only is given as a number. */
const storageRefuses = /error:? (?:28|30|122|135|136)\b/i
/** A refused password or database name ends the connection, but says nothing about the server. */
const refused = /^ER_.*DENIED|^ER_BAD_DB/

/** MariaDB's `max_statement_time` is over. The driver knows the names of MySQL's errors only. */
const STATEMENT_TIMEOUT = 1969

export const errorKind: ErrorKindOf = (error, code) => {
  if ((error as { errno?: unknown }).errno === STATEMENT_TIMEOUT) return 'slow'
  if (code === undefined) return error.message.startsWith('Pool is closed') ? 'broken' : undefined
  if (code === 'ER_GET_ERRNO') return storageRefuses.test(error.message) ? 'broken' : undefined
  // The driver marks what ended the connection.
  const isFatal = (error as { fatal?: unknown }).fatal === true && !refused.test(code)
  return isFatal ? 'broken' : kinds[code]
}
