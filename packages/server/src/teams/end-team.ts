import type { Owner } from '@tollgate/billing'
import { TEAM } from '../storage/found-tables.ts'
import {
  hasOpenAmounts,
  type OpenAmounts,
  readOpenAmounts,
  readSubscriptions,
  type SubscriptionFact,
  settleSubscriptions,
  voidOpenAmounts,
  voidOpenUsage,
} from '../users/account-billing.ts'
import {
  AccountDeletionBlocked,
  type AccountTeams,
  type BillingAccess,
  isCharged,
} from '../users/end-account.ts'
import type { TeamMemberships } from './membership.ts'
import type { Team } from './team.ts'

/** A team as an owner in billing. */
export function teamOwner({ id }: Pick<Team, 'id'>): Owner {
  return { type: TEAM, id }
}

/**
 * Thrown if a team cannot be deleted, because a subscription renews or an amount is open. Nothing
 * was changed.
 */
export class TeamDeletionBlocked extends AccountDeletionBlocked {
  readonly team: Team
  readonly reason: 'subscription' | 'open'

  constructor(team: Team, reason: TeamDeletionBlocked['reason']) {
    const { name, id } = team
    super(
      reason === 'subscription'
        ? `The team ${JSON.stringify(name)} (${id}) has a subscription that renews. Make another member its owner (tollgate team role), cancel the subscription (tollgate billing cancel --owner team:${id}), or delete the team with it (tollgate team delete ${id} --subscription now).`
        : `The team ${JSON.stringify(name)} (${id}) has open amounts. Make another member its owner (tollgate team role), wait until they are paid, or void them (tollgate team delete ${id} --void-open).`,
    )
    this.team = team
    this.reason = reason
  }
}

/** Decisions about the subscription and the open amounts of a team that is deleted. */
export interface TeamDecisions {
  /**
   * Whether to end a subscription that renews.
   * @default false
   */
  readonly endSubscription?: boolean
  /**
   * Whether to void unbilled usage and unpaid invoices.
   * @default false
   */
  readonly voidOpen?: boolean
}

/**
 * Deletes a team, with its members and invitations. A subscription that was cancelled ends now;
 * invoices stay at the provider. Idempotent, also after a crash.
 * @throws TeamDeletionBlocked if the decisions leave out a subscription that renews, or an open amount.
 */
export async function deleteTeam(
  teams: TeamMemberships,
  billing: BillingAccess,
  team: Team,
  decisions: TeamDecisions = {},
): Promise<void> {
  requireDecided(team, await readTeamObligations(billing, team), decisions)
  // First, so that nothing new can begin on its pages.
  await teams.close(team.id)
  try {
    const closed = await teams.find(team.id)
    if (closed && closed.billedBy !== null) await endBilling(billing, closed, decisions)
  } catch (error) {
    await teams.reopen(team.id)
    throw error
  }
  await teams.delete(team.id)
}

async function endBilling(
  billing: BillingAccess,
  team: Team,
  decisions: TeamDecisions,
): Promise<void> {
  const owner = teamOwner(team)
  const provider = await billing.provider()
  await (await provider.owner(owner.type, owner.id)).closeCheckouts()
  // A subscription may have begun before the team was closed.
  requireDecided(team, await readTeamObligations(billing, team), decisions)
  // Before the subscription ends, because its end would charge usage that is counted in our tables.
  if (decisions.voidOpen) await voidOpenUsage(provider, owner)
  await settleSubscriptions(provider, owner, 'now')
  if (decisions.voidOpen) await voidOpenAmounts(provider, owner)
  else if (hasOpenAmounts(await readOpenAmounts(provider, owner))) {
    throw new TeamDeletionBlocked(team, 'open')
  }
}

interface TeamObligations {
  readonly subscriptions: readonly SubscriptionFact[]
  readonly open: OpenAmounts
}

async function readTeamObligations(
  billing: BillingAccess,
  team: Team,
): Promise<TeamObligations | null> {
  if (team.billedBy === null) return null
  const owner = teamOwner(team)
  const provider = await billing.provider()
  await (await provider.owner(owner.type, owner.id)).sync()
  return {
    subscriptions: await readSubscriptions(provider, owner),
    open: await readOpenAmounts(provider, owner),
  }
}

function requireDecided(
  team: Team,
  obligations: TeamObligations | null,
  { endSubscription = false, voidOpen = false }: TeamDecisions,
): void {
  if (obligations === null) return
  if (!endSubscription && obligations.subscriptions.some(isCharged)) {
    throw new TeamDeletionBlocked(team, 'subscription')
  }
  if (!voidOpen && hasOpenAmounts(obligations.open)) throw new TeamDeletionBlocked(team, 'open')
}

/** Ends the memberships of people whose accounts are deleted. */
export function createAccountTeams(teams: TeamMemberships): AccountTeams {
  const listOwnedAlone = async (userId: string): Promise<Team[]> => {
    const alone: Team[] = []
    for (const { team, role } of await teams.listOf(userId)) {
      if (role !== 'owner') continue
      const members = await teams.members(team.id)
      const hasHeir = members.some(
        (each) => each.role === 'owner' && !each.isDisabled && each.userId !== userId,
      )
      if (!hasHeir) alone.push(team)
    }
    return alone
  }
  return {
    async requireLeavable(userId, billing) {
      for (const team of await listOwnedAlone(userId)) {
        requireDecided(team, await readTeamObligations(billing, team), {})
      }
    },
    async leaveAll(userId, billing) {
      for (const team of await listOwnedAlone(userId)) await deleteTeam(teams, billing, team)
      for (const { team } of await teams.listOf(userId)) {
        await teams.remove(team.id, userId, 'operator')
      }
    },
  }
}
