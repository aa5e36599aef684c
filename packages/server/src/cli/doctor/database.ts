import {
  type Database,
  findNotPrimaryError,
  isReplica,
  readConnectionLimit,
  readServerTime,
} from '@tollgate/database'
import type { Config } from '../../config/config.ts'
import { ConfigurationError } from '../../configuration-error.ts'
import { openDatabase } from '../../core.ts'
import { requireTables } from '../../storage/found-tables.ts'
import { countCores } from '../../workers/cores.ts'
import { formatCount } from '../count.ts'
import { describeErrorBriefly, type Finding, ok, problem, warning } from './finding.ts'

/**
 * Opens the database and checks that its tables are up to date. In the result, `database` is `null`
 * if it cannot be opened or its tables are not up to date.
 */
export async function checkDatabase(
  config: Config,
): Promise<{ readonly findings: Finding[]; readonly database: Database | null }> {
  let database: Database
  try {
    database = await openDatabase(config, { recordsTime: false })
  } catch (error) {
    const fix = findNotPrimaryError(error)
      ? 'Point DATABASE_URL to the primary: a standby may lack recent revocations.'
      : 'Check DATABASE_URL, that the server is running, and that this machine can reach it.'
    return { findings: [problem('database', describeErrorBriefly(error), fix)], database: null }
  }
  try {
    await requireTables(database, ['service', 'oauth', 'billing', 'billing-team'])
    const { name, isLocal } = database.dialect
    const several =
      isLocal && config.mode === 'production'
        ? [
            warning(
              'database',
              `${name} supports only one machine`,
              'To run the service on several machines, use a database server.',
            ),
          ]
        : []
    return {
      findings: [ok('database', `${name} responds and is up to date`), ...several],
      database,
    }
  } catch (error) {
    await database.close()
    const fix =
      error instanceof ConfigurationError
        ? 'Check that DATABASE_URL names the right database. Then start the service once, or run tollgate migrate as the message says.'
        : 'Grant this user read access to the tables.'
    return { findings: [problem('database', describeErrorBriefly(error), fix)], database: null }
  }
}

/**
 * Warns if the database server is a replica that accepts writes, which ordinary queries do not
 * reveal.
 */
export async function checkReplication(database: Database): Promise<Finding[]> {
  const check = 'replication'
  const found = await isReplica(database)
  if (found) {
    const fix =
      'Point DATABASE_URL to the primary, and make its replicas read-only, so that they are recognized. A replica still accepts what was revoked on the primary, until the revocation is replicated.'
    return [
      warning(check, 'The database server is a replica of another server, but accepts writes', fix),
    ]
  }
  if (found === null) {
    return [
      ok(
        check,
        'The database user is not allowed to see whether the server is a replica of another',
      ),
    ]
  }
  return database.dialect.isLocal ? [] : [ok(check, 'The database server is not a replica')]
}

/**
 * Compares the connections that the workers may open with those that the database server allows.
 * Other instances of the service are not known here.
 */
export async function checkConnections(
  { workers }: Pick<Config, 'workers'>,
  database: Database,
): Promise<Finding[]> {
  const check = 'database'
  const allowed = await readConnectionLimit(database)
  const pool = database.connections()
  if (allowed === null || pool === null) return []
  const count = workers === 'auto' ? countCores() : (workers ?? 1)
  const processes = formatCount(count, 'process opens', 'processes open')
  const needed = `${processes} up to ${count * pool.max} database connections`
  if (count * pool.max <= allowed) return [ok(check, `${needed}; the server allows ${allowed}`)]
  const fix =
    'Start fewer workers (TOLLGATE_WORKERS), or raise max_connections of the server. A reload needs twice as many connections for a moment, and other instances need theirs too.'
  return [warning(check, `${needed}, but the server allows only ${allowed}`, fix)]
}

const WARN_ABOVE_MS = 2000

export async function checkClock(database: Database): Promise<Finding[]> {
  const before = Date.now()
  const theirs = (await readServerTime(database)).getTime()
  const ours = (before + Date.now()) / 2
  const skew = Math.abs(theirs - ours)
  const shown = `${(skew / 1000).toFixed(1)} s`
  const fix = 'Synchronize both machines with a time server (chrony or systemd-timesyncd).'
  try {
    await database.clock.begin()
    await database.clock.check()
  } catch (error) {
    return [problem('clock', describeErrorBriefly(error), fix)]
  }
  if (skew > WARN_ABOVE_MS)
    return [
      warning('clock', `The clock of this machine differs from the database's by ${shown}`, fix),
    ]
  return [ok('clock', `The clock of this machine agrees with the database's within ${shown}`)]
}
