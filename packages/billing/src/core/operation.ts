import type { Database } from '@tollgate/database'
import type { BillingContext } from './context.ts'
import { isFinal } from './errors/errors.ts'
import type { NewBillingEvent } from './events/billing-event.ts'
import type { LockedOwner } from './locked-owner.ts'
import type { Intent, Operation } from './storage/operations.ts'

/**
 * Records an intent before its first request to the provider, or finds the record of an earlier
 * attempt.
 */
export function begin(
  { operations, options }: BillingContext,
  { lock }: LockedOwner,
  intent: Intent,
): Promise<Operation> {
  return lock.write((tx) => operations.begin(intent, options.clock.now(), tx))
}

/** Removes the record of an operation. What `save` writes is committed in the same transaction. */
export function finish(
  { operations }: BillingContext,
  { lock }: LockedOwner,
  operation: Operation,
  save?: (tx: Database) => Promise<void>,
): Promise<void> {
  return lock.write(async (tx) => {
    await save?.(tx)
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
 * Runs the provider requests of an operation. If they definitely failed, the operation is removed,
 * and the next attempt starts a new one. After any other error its record stays, to be resumed.
 */
export async function attempt<R>(
  context: BillingContext,
  locked: LockedOwner,
  operation: Operation,
  work: () => Promise<R>,
): Promise<R> {
  try {
    return await work()
  } catch (error) {
    if (isFinal(error)) await finish(context, locked, operation)
    throw error
  }
}
