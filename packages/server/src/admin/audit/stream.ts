import type { Deliveries } from '@tollgate/billing'
import type { Logger } from 'pino'
import { AUDIT_EVENT } from '../../config/shapes.ts'
import type { PublishedAuditEntry } from './chain.ts'
import { AUDIT_MESSAGE } from './log.ts'

/**
 * Returns a function that records each audit entry for the endpoints that want the audit log, in
 * the transaction that chains the entry. Each entry is thus sent at least once, even if the process
 * crashes.
 */
export function deliverTo(
  deliveries: Pick<Deliveries, 'isWanted' | 'send'>,
): (entries: readonly PublishedAuditEntry[]) => Promise<void> {
  return async (entries) => {
    if (!deliveries.isWanted(AUDIT_EVENT)) return
    for (const entry of entries) {
      const at = new Date(entry.chained_at)
      await deliveries.send({ id: `audit_${entry.id}`, type: AUDIT_EVENT, at, data: { entry } })
    }
  }
}

/**
 * Returns a function that writes each audit entry as one line of JSON to the log, whatever the
 * level of the log.
 */
export function logTo(logger: Logger): (entries: readonly PublishedAuditEntry[]) => void {
  const lines = logger.child({}, { level: 'info' })
  return (entries) => {
    for (const audit of entries) lines.info({ audit }, AUDIT_MESSAGE)
  }
}
