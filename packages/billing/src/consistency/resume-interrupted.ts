import type { BillingContext } from '../context.ts'
import { OPERATIONS } from './operations/all.ts'
import type { Resume } from './operations/resume.ts'
import type { LockedUser } from './user-lock.ts'

/**
 * Finishes what a killed process began, as far as the provider has it. What never reached the
 * provider stays on record: if it is asked for again, it runs under the same idempotency keys.
 */
export async function resumeInterrupted(
  context: BillingContext,
  locked: LockedUser,
): Promise<void> {
  for (const operation of await context.operations.listByUser(locked.userId)) {
    await findResume(operation.kind)?.(context, locked, operation)
  }
}

/** A kind that only a newer version knows stays on record, for one of its processes. */
function findResume(kind: string): Resume | null {
  return Object.hasOwn(OPERATIONS, kind) ? OPERATIONS[kind as keyof typeof OPERATIONS] : null
}
