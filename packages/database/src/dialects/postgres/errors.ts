import type { ErrorKind, ErrorKindOf } from '../../errors.ts'

const kinds: Readonly<Record<string, ErrorKind>> = {
  '57014': 'slow', // statement timeout
  '55P03': 'slow', // lock timeout
  // shutting down, starting up, too many connections, out of resources, read-only standby
  '57P01': 'broken',
  '57P02': 'broken',
  '57P03': 'broken',
  '57P05': 'broken',
  '53000': 'broken',
  '53100': 'broken',
  '53200': 'broken',
  '53300': 'broken',
  '53400': 'broken',
  '25006': 'broken',
  '25P03': 'broken',
  '58030': 'broken',
  '40001': 'undone', // serialization failure
  '40P01': 'undone', // deadlock
  '23505': 'duplicate',
  '22P02': 'impossible',
  '22003': 'impossible',
  '22021': 'impossible',
}

/** The driver gives these no code. */
const brokenMessage =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

export const errorKind: ErrorKindOf = (error, code) => {
  if (code === undefined) return brokenMessage.test(error.message) ? 'broken' : undefined
  if (isStalePlan(error)) return 'undone'
  return code.startsWith('08') ? 'broken' : kinds[code]
}

/** True when Postgres prepared the statement before the schema changed, or has forgotten it. */
export function isStalePlan(error: Error): boolean {
  const { code, message } = error as Error & { code?: unknown }
  return code === '26000' || (code === '0A000' && message.startsWith('cached plan must not change'))
}
