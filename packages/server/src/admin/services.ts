import { createAuditLog } from './audit/log.ts'
import { createCursors } from './cursor.ts'
import type { AdminServices } from './execute.ts'
import { createIdempotentRequests } from './idempotency.ts'
import type { OperationServices } from './operation.ts'
import { createRefusals } from './refusals.ts'

/** Adds to the parts of the service the services that only operations need. */
export function createAdminServices(
  parts: Omit<OperationServices, 'audit' | 'cursors'>,
): AdminServices {
  const { database, clock, config } = parts
  return {
    ...parts,
    audit: createAuditLog({ database, clock, secrets: config.secrets }),
    cursors: createCursors(config.secrets),
    requests: createIdempotentRequests({ database, clock, secrets: config.secrets }),
    refusals: createRefusals(clock),
  }
}
