import { closeCheckouts } from '../consistency/close-checkouts.ts'
import type { LockedOwner } from '../consistency/owner-lock.ts'
import type { BillingContext } from '../context.ts'
import { TrialUsed } from '../errors.ts'
import type { CheckoutSubscription } from '../gateways/contract/parts/pages/checkout.ts'
import type { StoredOperation } from '../storage/operations.ts'
import type { Owner } from '../values/owner.ts'

/**
 * Whether the owner ever had a free trial: one of a subscription under whatever name, also one that was cancelled or given to
 * another owner, or the one of its own row.
 */
export async function hadTrial(context: BillingContext, owner: Owner): Promise<boolean> {
  const billed = await context.owners.find(owner)
  return (billed?.trialEndsAt ?? null) !== null || (await hadSubscriptionTrial(context, owner))
}

/** Whether one of the owner's subscriptions had a trial. Leaves out the trial in the owner's own row. */
export async function hadSubscriptionTrial(
  { subscriptions, transfers }: BillingContext,
  owner: Owner,
): Promise<boolean> {
  return (await subscriptions.hadTrial(owner)) || (await transfers.hadTrial(owner))
}

/**
 * Or TrialUsed, where the option `trials` says that everybody has one. Asked while the owner's lock is held, after what
 * was interrupted is in our rows. Pages on which another trial could still begin are closed first: whoever finishes one
 * in this moment is found in our rows, too.
 */
export async function requireTrialLeft(
  context: BillingContext,
  locked: LockedOwner,
  begun: readonly StoredOperation[],
): Promise<void> {
  if (!context.options.trials.oncePerOwner) return
  await closeCheckouts(context, locked, begun.filter(offersTrial))
  await refuseSecondTrial(context, locked.owner)
}

/** The same as far as our rows know, for a preview: it decides nothing. */
export async function refuseSecondTrial(context: BillingContext, owner: Owner): Promise<void> {
  if (!context.options.trials.oncePerOwner || !(await hadTrial(context, owner))) return
  throw new TrialUsed(`This ${owner.type} has had a free trial: use skipTrial()`)
}

function offersTrial({ kind, request }: StoredOperation): boolean {
  if (kind !== 'checkout') return false
  const page = request.page as { readonly subscription?: CheckoutSubscription | null } | undefined
  return hasTrial(page?.subscription ?? null)
}

/** Whether this begins with a trial. */
export function hasTrial(
  wanted: { readonly trialDays: number | null; readonly trialEndsAt?: Date | null } | null,
): boolean {
  return Boolean(wanted?.trialDays || wanted?.trialEndsAt)
}
