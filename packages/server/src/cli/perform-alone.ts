import type { Database } from '@tollgate/database'
import type { AuditLog } from '../admin/audit/log.ts'
import { execute } from '../admin/execute.ts'
import { createLocalOperation } from '../admin/operations/maintenance.ts'
import { createBareServices } from './application/operations.ts'
import type { CommandContext } from './command.ts'

/** A database, and the log that records what commands do. */
export interface AuditedDatabase<Opened extends Database | null = Database> {
  readonly database: Opened
  readonly audit: AuditLog
}

/**
 * Performs and audits an operation that needs no part of the service: the tables may be missing or
 * out of date.
 */
export async function performAlone<Output>(
  { caller }: CommandContext,
  { database, audit }: AuditedDatabase<Database | null>,
  declared: Parameters<typeof createLocalOperation<Output>>[0],
): Promise<Output> {
  const services = createBareServices(database, audit)
  return (await execute(createLocalOperation(declared), { caller, input: {} }, services)) as Output
}
