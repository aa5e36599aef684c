import type { Clock } from '@tollgate/oauth'
import type { ServiceDatabase } from '../storage/tables.ts'
import type { AccountTeams } from '../users/end-account.ts'
import { createAccountTeams } from './end-team.ts'
import { createTeamMemberships, type TeamMemberships } from './membership.ts'

/** Teams: their members, and what the deletion of an account means for them. */
export type Teams = TeamMemberships & AccountTeams

export function createTeams(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
}): Teams {
  const memberships = createTeamMemberships(options)
  return { ...memberships, ...createAccountTeams(memberships) }
}
