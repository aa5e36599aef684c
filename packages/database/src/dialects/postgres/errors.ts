import type { ErrorKind, ErrorKindOf } from '../../errors.ts'

/** Kinds by SQLSTATE. */
const kinds: Readonly<Record<string, ErrorKind>> = {
  '57014': 'slow', // statement timeout, or a cancelled statement
  '55P03': 'slow', // lock timeout
  '57P01': 'broken', // shutting down, or pg_terminate_backend()
  '57P02': 'broken', // crashed
  '57P03': 'broken', // starting up, shutting down, or a standby that accepts no connections
  '57P05': 'broken', // idle for too long
  '25006': 'broken', // a write on a standby, or in a read-only transaction
  '25P03': 'broken', // idle in a transaction for too long
  '25P04': 'broken', // a transaction took too long
  '40003': 'broken', // unknown whether it was committed
  '40001': 'undone', // serialization failure, or a conflict with recovery on a standby
  '40P01': 'undone', // deadlock
  '72000': 'undone', // snapshot too old
  '23505': 'duplicate',
  '22P02': 'impossible', // text that is not a number
  '22003': 'impossible', // a number that is too large
  '22021': 'impossible', // a character that the encoding lacks
}

/**
 * Whole SQLSTATE classes: connection (08), resources such as memory, disk and connections (53),
 * operating system (58).
 */
const brokenClass = /^(?:08|53|58)[0-9A-Z]{3}$/

/** Messages of driver errors that have no code. */
const brokenMessage =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

export const findPostgresErrorKind: ErrorKindOf = (error, code) => {
  if (code === undefined) return brokenMessage.test(error.message) ? 'broken' : undefined
  if (isStalePlan(error)) return 'undone'
  return kinds[code] ?? (brokenClass.test(code) ? 'broken' : undefined)
}

/** Whether Postgres prepared the statement before a change of the schema, or no longer knows it. */
export function isStalePlan(error: Error): boolean {
  const { code, message } = error as Error & { code?: unknown }
  return code === '26000' || (code === '0A000' && message.startsWith('cached plan must not change'))
}
