import type { Database } from '@tollgate/database'
import type { BillingContext } from './context.ts'
import { isDefiniteFailure } from './errors/errors.ts'
import type { NewBillingEvent } from './events/billing-event.ts'
import type { LockedOwner } from './locked-owner.ts'
import type { OperationIntent, PendingOperation } from './storage/operations.ts'

/**
 * Records an operation before its first request to the provider, or finds the record of an earlier
 * attempt.
 */
export function beginOperation(
  { operations, options }: BillingContext,
  { lock }: LockedOwner,
  intent: OperationIntent,
): Promise<PendingOperation> {
  return lock.write((tx) => operations.begin(intent, options.clock.now(), tx))
}

/**
 * Removes the record of a finished operation. Calls `saveResult` in the same transaction, so that
 * its writes are committed together with the removal.
 */
export function finishOperation(
  { operations }: BillingContext,
  { lock }: LockedOwner,
  operation: PendingOperation,
  saveResult?: (tx: Database) => Promise<void>,
): Promise<void> {
  return lock.write(async (tx) => {
    await saveResult?.(tx)
    await operations.finish(operation, tx)
  })
}

/** Records the event of a change that was just made at the provider, if any consumer wants it. */
export async function recordEvent(
  { events }: BillingContext,
  { lock }: LockedOwner,
  event: NewBillingEvent,
): Promise<void> {
  if (events.isWanted(event.type)) await lock.write((tx) => events.record(tx, event))
}

/**
 * Runs the provider requests of an operation. If the requests definitely failed, the record of the
 * operation is removed, and the next attempt starts a new operation. After any other error the
 * record is kept, so that the operation can be resumed.
 */
export async function runOperation<R>(
  context: BillingContext,
  locked: LockedOwner,
  operation: PendingOperation,
  sendRequests: () => Promise<R>,
): Promise<R> {
  try {
    return await sendRequests()
  } catch (error) {
    if (isDefiniteFailure(error)) await finishOperation(context, locked, operation)
    throw error
  }
}
