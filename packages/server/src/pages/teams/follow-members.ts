import type { ServiceContext } from '../../context.ts'
import { teamOwner } from '../../teams/end-team.ts'
import type { Team } from '../../teams/team.ts'
import { updateTeamSeats } from '../../teams/team-seats.ts'

/**
 * Tells the payment provider about changed members: the number of seats, and the address for mail
 * about payments. The change itself has happened, so a failure is only logged; the billing page then
 * offers to correct the quantity.
 */
export async function updateProviderAfterMemberChange(
  service: ServiceContext,
  before: Team,
): Promise<void> {
  if (before.billedBy === null) return
  const { teams, billing, config, logger } = service
  const owner = teamOwner(before)
  try {
    await updateTeamSeats({ teams, billing, plans: config.settings.plans }, before.id)
    const now = await teams.find(before.id)
    if (!now || now.email === before.email) return
    const billable = await billing.owner(owner.type, owner.id)
    if (billable.can('customerDetails')) await billable.syncCustomerDetails()
  } catch (error) {
    logger.warn({ err: error, team: before.id }, 'The payment provider does not know the members')
  }
}
