import type { Billing } from '@tollgate/billing'
import { findPlanOfSubscription } from '../config/plan-capabilities.ts'
import type { Plan } from '../config/settings.ts'
import { countSeats } from '../plans/seats.ts'
import { teamOwner } from './end-team.ts'
import type { TeamMemberships } from './membership.ts'

/**
 * Sets the quantity of a team's running subscriptions to the number of members, for plans whose
 * seats are counted. Call it after the number has changed.
 */
export async function updateTeamSeats(
  {
    teams,
    billing,
    plans,
  }: {
    readonly teams: TeamMemberships
    readonly billing: Billing
    readonly plans: readonly Plan[]
  },
  teamId: string,
): Promise<void> {
  const owner = teamOwner({ id: teamId })
  const billable = await billing.findOwner(owner.type, owner.id)
  const running = (await billable?.subscriptions())?.filter((each) => !each.ended()) ?? []
  for (const subscription of running) {
    const plan = findPlanOfSubscription(plans, subscription)
    if (!plan || plan.seats.count === null || subscription.incomplete()) continue
    if (!subscription.can('quantities')) continue
    // Read again for each change: members may come and go while the provider answers.
    const members = await teams.countMembers(teamId)
    const quantity = (await countSeats([plan], { members })).get(plan.id)
    if (quantity && quantity !== subscription.quantity) await subscription.updateQuantity(quantity)
  }
}
