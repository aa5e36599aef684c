import { type Database, findNotPrimary, isReplica, readServerTime } from '@tollgate/database'
import type { Config } from '../../config/config.ts'
import { ConfigurationError } from '../../configuration-error.ts'
import { openDatabase } from '../../core.ts'
import { requireTables } from '../../storage/found-tables.ts'
import { type Finding, ok, problem, reason, warning } from './finding.ts'

/** Opens it and looks whether it is up to date; null when it is not. */
export async function checkDatabase(
  config: Config,
): Promise<{ readonly findings: Finding[]; readonly database: Database | null }> {
  let database: Database
  try {
    database = await openDatabase(config, { recordsTime: false })
  } catch (error) {
    const fix = findNotPrimary(error)
      ? 'Let DATABASE_URL lead to the primary: a standby does not know what was revoked.'
      : 'Check DATABASE_URL, that the server runs, and that this machine may reach it.'
    return { findings: [problem('database', reason(error), fix)], database: null }
  }
  try {
    await requireTables(database, ['service', 'oauth', 'billing'])
    const { name, isLocal } = database.dialect
    const several =
      isLocal && config.mode === 'production'
        ? [warning('database', `${name} serves one machine`, 'Use a database server for several.')]
        : []
    return { findings: [ok('database', `${name} answers and is up to date`), ...several], database }
  } catch (error) {
    await database.close()
    const fix =
      error instanceof ConfigurationError
        ? 'Start the service once, or run tollgate migrate as it says, on the right database.'
        : 'Give this user the right to read the tables.'
    return { findings: [problem('database', reason(error), fix)], database: null }
  }
}

/** A replica that takes writes does not say that it is one when it is read. */
export async function checkReplication(database: Database): Promise<Finding[]> {
  const check = 'replication'
  const found = await isReplica(database)
  if (found) {
    const fix =
      'Let DATABASE_URL lead to the primary, and make its replicas read-only, so that they are recognised: what was revoked on the primary is let in here until it arrives.'
    return [warning(check, 'The database server takes writes, and is a replica of another', fix)]
  }
  if (found === null) {
    return [ok(check, 'This user may not see whether the database server is a replica of another')]
  }
  return database.dialect.isLocal ? [] : [ok(check, 'The database server is no replica')]
}

const WORTH_MENTIONING = 2000

export async function checkClock(database: Database): Promise<Finding[]> {
  const before = Date.now()
  const theirs = (await readServerTime(database)).getTime()
  const ours = (before + Date.now()) / 2
  const skew = Math.abs(theirs - ours)
  const shown = `${(skew / 1000).toFixed(1)} s`
  const fix = 'Let both machines follow a time server (chrony or systemd-timesyncd).'
  try {
    await database.clock.begin()
    await database.clock.check()
  } catch (error) {
    return [problem('clock', reason(error), fix)]
  }
  if (skew > WORTH_MENTIONING) return [warning('clock', `It is ${shown} off the database's`, fix)]
  return [ok('clock', `It agrees with the database's to ${shown}`)]
}
