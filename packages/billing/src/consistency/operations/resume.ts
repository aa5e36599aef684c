import type { BillingContext } from '../../context.ts'
import type { StoredOperation } from '../../storage/operations.ts'
import type { LockedOwner } from '../owner-lock.ts'

/**
 * Finishes an operation that somebody began and did not end, as far as the provider has it. Can be
 * repeated. What never reached the provider is left on record.
 */
export type Resume = (
  context: BillingContext,
  locked: LockedOwner,
  operation: StoredOperation,
) => Promise<void>
