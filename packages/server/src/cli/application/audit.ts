import { setTimeout as wait } from 'node:timers/promises'
import { type AuditLog, createLoggerAudit } from '../../admin/audit/log.ts'
import { createLogger } from '../../logger.ts'
import type { Application } from './load.ts'

/** Time after which a command no longer waits for a listener. */
const PATIENCE_MS = 10_000

/** The audit log of a command on an application's own instances. */
export interface ApplicationAudit {
  readonly log: AuditLog
  /**
   * Waits until the application's event listeners have finished. Call it before closing its
   * instances.
   */
  settled(): Promise<void>
}

/**
 * Creates the audit log of an application, whose database has no table for it: entries go to the
 * application's logger, or to standard error, and after the commit to the listeners of its
 * instances.
 */
export function createApplicationAudit(application: Application): ApplicationAudit {
  const { database, oauth, billing } = application
  const logger = application.logger ?? createLogger('info', process.stderr)
  const calls: Promise<void>[] = []
  return {
    log: createLoggerAudit({
      logger,
      clock: database.clock,
      emit: (entry) =>
        database.afterCommit(() => {
          if (oauth) calls.push(oauth.events.audit(entry))
          if (billing) calls.push(billing.events.audit(entry))
        }),
    }),
    async settled() {
      const limit = new AbortController()
      const expiry = wait(PATIENCE_MS, 'expired' as const, { signal: limit.signal })
      const outcome = await Promise.race([Promise.all(calls), expiry])
      if (outcome === 'expired') {
        process.stderr.write('A listener of audit entries has not finished, and is not awaited\n')
        return
      }
      limit.abort()
      await expiry.catch(() => {})
    },
  }
}
