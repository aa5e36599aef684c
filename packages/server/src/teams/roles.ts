/** The roles in a team, from the least to the most powerful. */
export const TEAM_ROLES = ['member', 'admin', 'owner'] as const

/** A role in a team; docs/guides/teams.md lists what each one may do. */
export type TeamRole = (typeof TEAM_ROLES)[number]

/** Returns the role of this name. `null` for any other text, so that an unknown role has no power. */
export function parseTeamRole(text: string | null | undefined): TeamRole | null {
  return TEAM_ROLES.find((role) => role === text) ?? null
}

/** The lowest role for each act in a team. */
const NEEDS = {
  see: 'member',
  leave: 'member',
  bill: 'admin',
  rename: 'admin',
  invite: 'admin',
  withdraw: 'admin',
  remove: 'admin',
  setRole: 'owner',
  handOver: 'owner',
  delete: 'owner',
} as const satisfies Record<string, TeamRole>

/** An act of a member in a team. `bill` is everything on the billing pages of the team. */
export type TeamAct = keyof typeof NEEDS

const rankOf = (role: TeamRole) => TEAM_ROLES.indexOf(role)

/**
 * Whether a person with `role` may act in a team; `null` stands for people outside of the team.
 * `target` is the role of the member whom the act is about, or that an invitation gives: it must be
 * lower than the person's own, except that owners may also act on owners. This is the only place
 * that decides it.
 */
export function mayAct(role: TeamRole | null, act: TeamAct, target?: TeamRole): boolean {
  if (role === null || rankOf(role) < rankOf(NEEDS[act])) return false
  return target === undefined || role === 'owner' || rankOf(target) < rankOf(role)
}
