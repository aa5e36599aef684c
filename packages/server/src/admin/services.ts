import { createAuditLog } from './audit/log.ts'
import { createCursors } from './cursor.ts'
import type { AdminServices } from './execute.ts'
import { createIdempotentRequests } from './idempotency.ts'
import type { OperationServices } from './operation.ts'
import { createRefusalTracker } from './refusals.ts'

/**
 * Creates the services for operations: the given parts of the service, and the services that only
 * operations need.
 */
export function createAdminServices(
  parts: Omit<OperationServices, 'audit' | 'cursors'>,
): AdminServices {
  const { database, clock, config } = parts
  return {
    ...parts,
    audit: createAuditLog({ database, clock, secrets: config.secrets }),
    cursors: createCursors(config.secrets),
    requests: createIdempotentRequests({ database, clock, secrets: config.secrets }),
    refusals: createRefusalTracker(clock),
  }
}
