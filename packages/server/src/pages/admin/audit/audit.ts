import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { addAuditEntryPage } from './entry-page.tsx'
import { addAuditListPage } from './list.tsx'
import { addAuditVerificationPage } from './verify.tsx'

/**
 * Adds the pages of the audit log. The fixed paths are added before the path of an entry, which
 * would match them, too.
 */
export function addAuditPages(app: Hono<AppEnv>): void {
  addAuditListPage(app)
  addAuditVerificationPage(app)
  addAuditEntryPage(app)
}
