import type { BillingContext } from '../../core/context.ts'
import { TrialUsed } from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { StoredOperation } from '../../core/storage/operations.ts'
import type { Owner } from '../../core/values/owner.ts'
import { closeCheckouts } from '../checkout/close-checkouts.ts'
import type { CheckoutSubscription } from '../checkout/contract.ts'

/**
 * Whether the owner ever had a free trial: with any subscription, including cancelled ones and ones
 * that were transferred to another owner, or a trial without a subscription.
 */
export async function hadTrial(context: BillingContext, owner: Owner): Promise<boolean> {
  const billed = await context.owners.find(owner)
  return (billed?.trialEndsAt ?? null) !== null || (await hadSubscriptionTrial(context, owner))
}

/**
 * Whether one of the owner's subscriptions ever had a trial. A trial without a subscription does
 * not count.
 */
export async function hadSubscriptionTrial(
  { subscriptions, transfers }: BillingContext,
  owner: Owner,
): Promise<boolean> {
  return (await subscriptions.hadTrial(owner)) || (await transfers.hadTrial(owner))
}

/**
 * Throws TrialUsed if the option `trials` allows one trial per owner, and the owner has used it.
 * Callers must hold the owner's lock and must have finished interrupted operations. First closes
 * hosted checkout pages that could still start a trial, so that a page that is completed at the
 * same moment is already in our database.
 */
export async function requireTrialUnused(
  context: BillingContext,
  locked: LockedOwner,
  begun: readonly StoredOperation[],
): Promise<void> {
  if (!context.options.trials.oncePerOwner) return
  await closeCheckouts(context, locked, begun.filter(offersTrial))
  await rejectSecondTrialInPreview(context, locked.owner)
}

/**
 * Throws TrialUsed if our database shows that the owner has used the only trial. Sufficient for a
 * preview. Creating a subscription checks with `requireTrialUnused()`, which also closes checkout
 * pages.
 */
export async function rejectSecondTrialInPreview(
  context: BillingContext,
  owner: Owner,
): Promise<void> {
  if (!context.options.trials.oncePerOwner || !(await hadTrial(context, owner))) return
  throw new TrialUsed(`This ${owner.type} has already had a free trial: use skipTrial()`)
}

function offersTrial({ kind, request }: StoredOperation): boolean {
  if (kind !== 'checkout') return false
  const page = request.page as { readonly subscription?: CheckoutSubscription | null } | undefined
  return startsWithTrial(page?.subscription ?? null)
}

/** Whether the requested subscription starts with a trial. */
export function startsWithTrial(
  requestedTrial: { readonly trialDays: number | null; readonly trialEndsAt?: Date | null } | null,
): boolean {
  return Boolean(requestedTrial?.trialDays || requestedTrial?.trialEndsAt)
}
