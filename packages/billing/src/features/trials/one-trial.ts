import type { BillingContext } from '../../core/context.ts'
import { TrialUsed } from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { StoredOperation } from '../../core/storage/operations.ts'
import type { Owner } from '../../core/values/owner.ts'
import { closeCheckouts } from '../checkout/close-checkouts.ts'
import type { CheckoutSubscription } from '../checkout/contract.ts'

/**
 * Whether the owner ever had a free trial: of any subscription, including cancelled ones and ones
 * that were transferred to another owner, or at the user level.
 */
export async function hadTrial(context: BillingContext, owner: Owner): Promise<boolean> {
  const billed = await context.owners.find(owner)
  return (billed?.trialEndsAt ?? null) !== null || (await hadSubscriptionTrial(context, owner))
}

/** Whether one of the owner's subscriptions had a trial. The user-level trial does not count. */
export async function hadSubscriptionTrial(
  { subscriptions, transfers }: BillingContext,
  owner: Owner,
): Promise<boolean> {
  return (await subscriptions.hadTrial(owner)) || (await transfers.hadTrial(owner))
}

/**
 * Throws TrialUsed if the option `trials` allows one trial per owner, and it was used. Call it
 * while holding the owner's lock, after interrupted operations were finished. Closes hosted pages
 * that could still start a trial before it checks, so that a page that is completed at the same
 * moment is found in our rows.
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

/**
 * Throws TrialUsed as far as our rows know, for a preview: the actual check happens in
 * `requireTrialLeft()`.
 */
export async function refuseSecondTrial(context: BillingContext, owner: Owner): Promise<void> {
  if (!context.options.trials.oncePerOwner || !(await hadTrial(context, owner))) return
  throw new TrialUsed(`This ${owner.type} has had a free trial: use skipTrial()`)
}

function offersTrial({ kind, request }: StoredOperation): boolean {
  if (kind !== 'checkout') return false
  const page = request.page as { readonly subscription?: CheckoutSubscription | null } | undefined
  return hasTrial(page?.subscription ?? null)
}

/** Whether the wanted subscription starts with a trial. */
export function hasTrial(
  wanted: { readonly trialDays: number | null; readonly trialEndsAt?: Date | null } | null,
): boolean {
  return Boolean(wanted?.trialDays || wanted?.trialEndsAt)
}
