import { existsSync } from 'node:fs'
import { type Database, findDatabaseFile } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { type AuditLog, createAuditLog, createLoggerAudit } from '../admin/audit/log.ts'
import type { Config } from '../config/config.ts'
import { openDatabase } from '../core.ts'
import { createLogger } from '../logger.ts'

/** The clock of this machine, for commands that have no database open. */
export const MACHINE_CLOCK: Clock = { now: () => new Date() }

/**
 * Creates the audit log for commands that must also work when the log cannot be written: before the
 * first migration, with tables that are out of date, without `TOLLGATE_SECRET`, or while the
 * database is unavailable (`null`). Each entry is then written as one line of JSON to standard
 * error.
 */
export function createLenientAudit(
  database: Database | null,
  { secrets }: Pick<Config, 'secrets'>,
): AuditLog {
  const clock = database?.clock ?? MACHINE_CLOCK
  const stored = database && createAuditLog({ database, clock, secrets })
  const line = createLoggerAudit({ logger: createLogger('info', process.stderr), clock })
  /** Entries that were not stored, to which others cannot refer. */
  const lost = new Set<string>()
  return {
    async add(entry) {
      const { intentId = null, outcome } = entry
      const known = {
        ...entry,
        intentId: intentId !== null && lost.has(intentId) ? null : intentId,
      }
      try {
        if (stored) return await stored.add(known)
      } catch {
        // The command itself reports a database that is away.
      }
      const id = outcome === 'done' ? await line.add(known) : `unrecorded ${lost.size}`
      lost.add(id)
      return id
    },
    async forget(userId) {
      await stored?.forget(userId)
    },
  }
}

/** Runs `work` with the database, or with `null` if it is away or its file does not exist. */
export async function withDatabaseIfAny<T>(
  config: Config,
  work: (database: Database | null) => Promise<T>,
): Promise<T> {
  const file = findDatabaseFile(config.databaseUrl)
  const isMissing = file !== null && !existsSync(file)
  const database = isMissing
    ? null
    : await openDatabase(config, { recordsTime: false }).catch(() => null)
  try {
    return await work(database)
  } finally {
    await database?.close()
  }
}
