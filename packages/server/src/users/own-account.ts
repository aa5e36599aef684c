import type { Billing } from '@tollgate/billing'
import {
  hasOpenAmounts,
  NO_OPEN_AMOUNTS,
  type OpenAmounts,
  type SubscriptionFact,
} from './account-billing.ts'
import {
  AccountDeletionBlocked,
  type AccountOutcome,
  type AccountServices,
  type BillingAccess,
  DecisionRequired,
  deleteAccount,
  isLive,
  readObligations,
} from './end-account.ts'
import type { Account } from './user.ts'

/**
 * Why people cannot delete their own account now. `operator`: an owner must take away their role
 * first. `open`: something is not paid or not billed yet. `dispute`: the bank has not decided.
 * `team`: a team that has no other owner has a subscription or open amounts.
 */
export type DeletionObstacle = 'operator' | 'open' | 'dispute' | 'team'

/** The effects of deleting a person's own account, or the reason why it is not possible. */
export interface OwnDeletion {
  readonly obstacle: DeletionObstacle | null
  /** Subscriptions that the deletion ends at once. */
  readonly ending: readonly SubscriptionFact[]
  readonly open: OpenAmounts
}

/**
 * Decides whether people may delete their own account now, and what that will end. All such
 * decisions are made here. Calls the provider if the person is a customer.
 */
export async function planOwnDeletion(
  { teams }: Pick<AccountServices, 'teams'>,
  billing: BillingAccess,
  account: Account,
): Promise<OwnDeletion> {
  if (account.role !== null) return { obstacle: 'operator', ending: [], open: NO_OPEN_AMOUNTS }
  const { subscriptions, open } = await readObligations(billing, account)
  const ending = subscriptions.filter(isLive)
  if (hasOpenAmounts(open)) return { obstacle: 'open', ending, open }
  const isDisputed =
    account.billedBy !== null && (await hasOpenDispute(await billing.rows(), account.id))
  if (isDisputed) return { obstacle: 'dispute', ending, open }
  try {
    await teams.requireLeavable(account.id, billing)
    return { obstacle: null, ending, open }
  } catch (error) {
    if (!(error instanceof AccountDeletionBlocked)) throw error
    return { obstacle: 'team', ending, open }
  }
}

/** Whether the person has to do something before the deletion can go on. */
export function needsActionOfPerson(error: unknown): boolean {
  return error instanceof DecisionRequired || error instanceof AccountDeletionBlocked
}

async function hasOpenDispute(billing: Billing, id: string): Promise<boolean> {
  const owner = await billing.user(Number(id))
  for (const status of ['open', 'inquiry'] as const) {
    const { disputes } = await billing.disputes({ owner: owner.owner, status, limit: 1 })
    if (disputes.length > 0) return true
  }
  return false
}

/**
 * Deletes the account of the person who asks for it, with all subscriptions, at once. If the process
 * crashes or the provider is unavailable meanwhile, `completeDeletions()` finishes it later.
 * @throws AccountUnfinished if the account is locked, and the rest is done later.
 * @throws DecisionRequired if something must be paid first. The account is as before.
 * @throws AccountDeletionBlocked if a team must be handed over or ended first. The account is as before.
 */
export async function deleteOwnAccount(
  parts: AccountServices,
  billing: BillingAccess,
  account: Account,
): Promise<AccountOutcome> {
  try {
    return await deleteAccount(parts, billing, account, { choice: 'now', isOwnRequest: true })
  } catch (error) {
    // People whose account is locked could not sign in to do it.
    if (needsActionOfPerson(error)) await parts.users.cancelRequestedDeletion(account.id)
    throw error
  }
}

/** How long a deletion may run before another process completes it. */
const GRACE = 60_000

/**
 * Completes deletions that were interrupted, such as by a crash or an outage of a provider. If
 * the person has to do something first after all, they can sign in again. Returns the number of accounts
 * that are still waiting.
 */
export async function completeDeletions(
  parts: AccountServices,
  billing: BillingAccess,
  now: Date,
): Promise<number> {
  const waiting = await parts.users.listRequestedDeletions(new Date(now.getTime() - GRACE))
  let left = 0
  for (const account of waiting) {
    try {
      await deleteOwnAccount(parts, billing, account)
    } catch (error) {
      if (!needsActionOfPerson(error)) left += 1
    }
  }
  return left
}
