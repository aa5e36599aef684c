import type { Hono } from 'hono'
import type { AppEnv } from '../../../http/variables.ts'
import { addAuditEntry } from './entry-page.tsx'
import { addAuditList } from './list.tsx'
import { addAuditVerification } from './verify.tsx'

/** Adds the pages of the audit log. The other addresses come before those of entries. */
export function addAudit(app: Hono<AppEnv>): void {
  addAuditList(app)
  addAuditVerification(app)
  addAuditEntry(app)
}
