import type { BillingContext } from '../context.ts'
import type { StoredOperation } from '../storage/operations.ts'
import { OPERATIONS } from './operations/all.ts'
import type { Resume } from './operations/resume.ts'
import type { LockedOwner } from './owner-lock.ts'

/**
 * Finishes what a killed process began, as far as the provider has it. What never reached the
 * provider stays on record: if it is asked for again, it runs under the same idempotency keys. Gives what
 * was on record before.
 */
export async function resumeInterrupted(
  context: BillingContext,
  locked: LockedOwner,
): Promise<readonly StoredOperation[]> {
  const begun = await context.operations.listByOwner(locked.owner)
  for (const operation of begun) await findResume(operation.kind)?.(context, locked, operation)
  return begun
}

/** A kind that only a newer version knows stays on record, for one of its processes. */
function findResume(kind: string): Resume | null {
  return Object.hasOwn(OPERATIONS, kind) ? OPERATIONS[kind as keyof typeof OPERATIONS] : null
}
