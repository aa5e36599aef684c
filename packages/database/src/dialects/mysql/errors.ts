import type { ErrorKind, ErrorKindOf } from '../../errors.ts'

/**
 * The servers' errors by number: mysql2 knows only the names of MySQL's errors, and MariaDB has its
 * own numbers from 1900 on. The name identifies errors that were copied without their number.
 */
const serverErrors: ReadonlyArray<readonly [number: number, name: string, kind: ErrorKind]> = [
  [1205, 'ER_LOCK_WAIT_TIMEOUT', 'slow'],
  [1969, 'ER_STATEMENT_TIMEOUT', 'slow'], // max_statement_time of MariaDB
  [3024, 'ER_QUERY_TIMEOUT', 'slow'], // max_execution_time of MySQL
  [3572, 'ER_LOCK_NOWAIT', 'slow'],
  // The connection was ended or can no longer be trusted.
  [1053, 'ER_SERVER_SHUTDOWN', 'broken'],
  [1077, 'ER_NORMAL_SHUTDOWN', 'broken'],
  [1079, 'ER_SHUTDOWN_COMPLETE', 'broken'],
  [1152, 'ER_ABORTING_CONNECTION', 'broken'],
  [1158, 'ER_NET_READ_ERROR', 'broken'],
  [1159, 'ER_NET_READ_INTERRUPTED', 'broken'],
  [1160, 'ER_NET_ERROR_ON_WRITE', 'broken'],
  [1161, 'ER_NET_WRITE_INTERRUPTED', 'broken'],
  [1184, 'ER_NEW_ABORTING_CONNECTION', 'broken'],
  [1317, 'ER_QUERY_INTERRUPTED', 'broken'], // KILL QUERY
  [1927, 'ER_CONNECTION_KILLED', 'broken'], // KILL of MariaDB
  [4031, 'ER_CLIENT_INTERACTION_TIMEOUT', 'broken'],
  // The server has too many connections, or too little memory for another one.
  [1037, 'ER_OUTOFMEMORY', 'broken'],
  [1038, 'ER_OUT_OF_SORTMEMORY', 'broken'],
  [1040, 'ER_CON_COUNT_ERROR', 'broken'],
  [1041, 'ER_OUT_OF_RESOURCES', 'broken'],
  [1135, 'ER_CANT_CREATE_THREAD', 'broken'],
  [1203, 'ER_TOO_MANY_USER_CONNECTIONS', 'broken'],
  [1206, 'ER_LOCK_TABLE_FULL', 'broken'],
  [1226, 'ER_USER_LIMIT_REACHED', 'broken'],
  [1637, 'ER_TOO_MANY_CONCURRENT_TRXS', 'broken'],
  // The server cannot write: its disk is full, or it is a replica.
  [1021, 'ER_DISK_FULL', 'broken'],
  [1026, 'ER_ERROR_ON_WRITE', 'broken'],
  [1114, 'ER_RECORD_FILE_FULL', 'broken'],
  [1290, 'ER_OPTION_PREVENTS_STATEMENT', 'broken'],
  [1792, 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', 'broken'],
  [1836, 'ER_READ_ONLY_MODE', 'broken'],
  [1874, 'ER_INNODB_READ_ONLY', 'broken'],
  // Galera: the node has lost or not yet joined the cluster, or the result of a commit is unknown.
  [1047, 'ER_UNKNOWN_COM_ERROR', 'broken'],
  [1180, 'ER_ERROR_DURING_COMMIT', 'broken'],
  [1020, 'ER_CHECKREAD', 'undone'],
  [1213, 'ER_LOCK_DEADLOCK', 'undone'],
  [1412, 'ER_TABLE_DEF_CHANGED', 'undone'],
  [3101, 'ER_TRANSACTION_ROLLBACK_DURING_COMMIT', 'undone'], // group replication
  [1062, 'ER_DUP_ENTRY', 'duplicate'],
  [1267, 'ER_CANT_AGGREGATE_2COLLATIONS', 'impossible'],
]

/** Errors of the driver, which have no number. */
const driverErrors: ReadonlyArray<readonly [name: string, kind: ErrorKind]> = [
  ['PROTOCOL_CONNECTION_LOST', 'broken'],
  ['PROTOCOL_SEQUENCE_TIMEOUT', 'broken'],
  ['PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR', 'broken'],
  ['PROTOCOL_ENQUEUE_AFTER_QUIT', 'broken'],
  ['POOL_CLOSED', 'broken'],
]

const byNumber = new Map(serverErrors.map(([number, , kind]) => [number, kind]))
const byName = new Map([...serverErrors.map(([, ...named]) => named), ...driverErrors])

/**
 * Error that contains the operating system's number in its message, such as for a full disk, a
 * quota or a read-only file system.
 */
const GET_ERRNO = 1030
const storageRefuses = /error:? (?:28|30|122|135|136)\b/i
/**
 * A rejected password or database name ends the connection, but says nothing about the server's
 * health.
 */
const isRefused = ({ sqlState }: MysqlError, code = '') =>
  sqlState === '28000' || /^ER_.*DENIED|^ER_BAD_DB/.test(code)
/**
 * The server closes the connection after this error, but a retry would fail as well: the packet
 * would be just as large.
 */
const PACKET_TOO_LARGE = 1153

type MysqlError = Error & {
  readonly errno?: unknown
  readonly sqlState?: unknown
  readonly fatal?: unknown
}

export const findMysqlErrorKind: ErrorKindOf = (error: MysqlError, code) => {
  const { errno, fatal, message } = error
  // The driver sets `fatal` on errors that ended the connection.
  if (fatal === true && !isRefused(error, code)) return 'broken'
  if (errno === GET_ERRNO || code === 'ER_GET_ERRNO') {
    return storageRefuses.test(message) ? 'broken' : undefined
  }
  if (typeof errno === 'number' && byNumber.has(errno)) return byNumber.get(errno)
  if (code !== undefined) return byName.get(code)
  return message.startsWith('Pool is closed') ? 'broken' : undefined
}

/** Whether this error makes the connection unusable although the server works. */
export function isConnectionEndingError(error: unknown): boolean {
  return error instanceof Error && (error as MysqlError).errno === PACKET_TOO_LARGE
}
