import type { Context, MiddlewareHandler } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { mayAct, type TeamAct } from '../../teams/roles.ts'
import type { TeamMembership } from '../../teams/team.ts'
import { getSignedInUser, requireUser } from './forms.ts'

/**
 * Requires a signed-in member of the team in the path whose role allows the act. Other people get a
 * 404, as if there were no such team. The billing pages then manage the subscription of the team.
 */
export function requireTeam(act: TeamAct): MiddlewareHandler<AppEnv> {
  const signedIn = requireUser()
  return async (c, next) => {
    const page = c.get('page')
    if (!page.user) return signedIn(c, next)
    const id = c.req.param('team') ?? ''
    const membership = await page.service.teams.findMembership(id, getSignedInUser(c).id)
    if (membership === null || !mayAct(membership.role, act)) return c.notFound()
    c.set('page', { ...page, payer: { path: `/teams/${membership.team.id}/billing`, membership } })
    return next()
  }
}

/** Returns the membership of the signed-in person, in handlers behind `requireTeam()`. */
export function getMembership(c: Context<AppEnv>): TeamMembership {
  const { membership } = c.get('page').payer
  if (membership === null) throw new Error('This page must be registered behind requireTeam()')
  return membership
}
