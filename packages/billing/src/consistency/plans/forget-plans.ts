import type { BillingContext } from '../../context.ts'
import type { LockedOwner } from '../owner-lock.ts'

/** Takes all that is on record of the plans of a subscription off it: the newest call counts. */
export async function forgetPlans(
  { operations }: BillingContext,
  { owner, lock }: LockedOwner,
  of: string,
): Promise<void> {
  const begun = await operations.listByOwner(owner)
  const ours = begun.filter(({ kind, request }) => kind === 'plan' && request.of === of)
  if (ours.length === 0) return
  await lock.write(async (tx) => {
    for (const operation of ours) await operations.finish(operation, tx)
  })
}
