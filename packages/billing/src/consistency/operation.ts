import type { Database } from '@tollgate/database'
import type { BillingContext } from '../context.ts'
import { isFinal } from '../errors.ts'
import type { NewBillingEvent } from '../events/billing-event.ts'
import type { Intent, Operation } from '../storage/operations.ts'
import type { LockedOwner } from './owner-lock.ts'

/** Puts an intent on record before its first provider call, or finds it there from an earlier attempt. */
export function begin(
  { operations, options }: BillingContext,
  { lock }: LockedOwner,
  intent: Intent,
): Promise<Operation> {
  return lock.write((tx) => operations.begin(intent, options.clock.now(), tx))
}

/** Takes it off the record. What `save` writes is there from the same moment on. */
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

/** Writes down what was just done at the provider, for those who are told. */
export async function tell(
  { events }: BillingContext,
  { lock }: LockedOwner,
  event: NewBillingEvent,
): Promise<void> {
  if (events.isWanted(event.type)) await lock.write((tx) => events.record(tx, event))
}

/**
 * Runs what an operation asks of the provider. When that has definitely failed, the operation is over:
 * the next like it is another one. After anything else it stays, to be resumed.
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
