import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { addAuditEntry } from './entry-page.tsx'
import { addAuditList } from './list.tsx'
import { addAuditVerification } from './verify.tsx'

/**
 * Adds the pages of the audit log. The fixed paths are added before the path of an entry, which
 * would match them, too.
 */
export function addAudit(app: Hono<AppEnv>): void {
  addAuditList(app)
  addAuditVerification(app)
  addAuditEntry(app)
}
