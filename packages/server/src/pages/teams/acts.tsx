import type { Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { AppEnv } from '../../http/variables.ts'
import { deleteTeam, TeamDeletionBlocked } from '../../teams/end-team.ts'
import { mayAct, parseTeamRole, type TeamAct } from '../../teams/roles.ts'
import { type TeamMember, TeamRefused } from '../../teams/team.ts'
import { describeProblem } from '../billing/model/problems.ts'
import { Confirmation, isCancelled } from '../parts/confirmation.tsx'
import { getSignedInUser, readCsrfForm } from '../parts/forms.ts'
import { renderPage } from '../parts/render.tsx'
import { getMembership, requireTeam } from '../parts/team.ts'
import { updateProviderAfterMemberChange } from './follow-members.ts'
import { teamPath } from './notices.ts'
import { renderTeam } from './team-page.tsx'

/** Adds the forms that change a team, and the pages that ask for confirmation. */
export function addTeamActionRoutes(app: Hono<AppEnv>): void {
  addAct(app, 'rename', 'rename', async (c, form) => {
    const { team, by, teams } = actOf(c)
    await teams.rename(team.id, form.get('name') ?? '', by)
    return teamPath(team.id, 'renamed')
  })
  addAct(app, 'role', 'setRole', async (c, form) => {
    const { team, by, teams } = actOf(c)
    const role = parseTeamRole(form.get('role'))
    if (role === null) throw new TeamRefused('role')
    await teams.setRole(team.id, form.get('user') ?? '', role, by)
    return teamPath(team.id, 'role')
  })
  addAct(app, 'withdraw', 'withdraw', async (c, form) => {
    const { team, by, teams } = actOf(c)
    await teams.withdraw(team.id, form.get('invitation') ?? '', by)
    return teamPath(team.id, 'withdrawn')
  })
  addConfirmedAct(app, 'leave', {
    act: 'leave',
    texts: 'teams.leave',
    async perform(c) {
      const { team, by, teams } = actOf(c)
      await teams.remove(team.id, by.userId, by)
      return '/teams?done=left'
    },
  })
  addConfirmedAct(app, 'remove', {
    act: 'remove',
    texts: 'teams.remove',
    aboutMember: true,
    async perform(c, form) {
      const { team, by, teams } = actOf(c)
      const userId = form.get('user') ?? ''
      if (userId === by.userId) throw new TeamRefused('forbidden')
      await teams.remove(team.id, userId, by)
      return teamPath(team.id, 'removed')
    },
  })
  addConfirmedAct(app, 'hand-over', {
    act: 'handOver',
    texts: 'teams.handOver',
    aboutMember: true,
    async perform(c, form) {
      const { team, by, teams } = actOf(c)
      await teams.handOver(team.id, form.get('user') ?? '', by)
      return teamPath(team.id, 'handed-over')
    },
  })
  addConfirmedAct(app, 'delete', {
    act: 'delete',
    texts: 'teams.delete',
    async perform(c) {
      const { team, teams } = actOf(c)
      await deleteTeam(teams, c.get('page').service.admin.billing, team)
      return '/teams?done=deleted'
    },
  })
}

function actOf(c: Context<AppEnv>) {
  const { team } = getMembership(c)
  const by = { userId: getSignedInUser(c).id }
  return { team, by, teams: c.get('page').service.teams }
}

/** Performs an act, and returns the path to redirect to. */
type Perform = (c: Context<AppEnv>, form: URLSearchParams) => Promise<string>

/** Adds the form of an act. If it is refused, or fails at the provider, the team's page says why. */
function addAct(app: Hono<AppEnv>, name: string, act: TeamAct, perform: Perform): void {
  app.post(`/teams/:team/${name}`, requireTeam(act), async (c) => {
    const form = await readCsrfForm(c)
    const { team } = getMembership(c)
    if (isCancelled(form)) return c.redirect(teamPath(team.id), 303)
    const { service, t } = c.get('page')
    try {
      const path = await perform(c, form)
      await updateProviderAfterMemberChange(service, team)
      return c.redirect(path, 303)
    } catch (error) {
      if (error instanceof TeamDeletionBlocked) {
        return renderTeam(c, { problem: t(`teams.blocked.${error.reason}`) })
      }
      if (error instanceof TeamRefused) return renderTeam(c, { problem: error.in(t) })
      const problem = describeProblem(error, t)
      if (!problem) throw error
      return renderTeam(c, { problem: problem.message, status: problem.status })
    }
  })
}

interface ConfirmedAct {
  readonly act: TeamAct
  readonly texts: 'teams.leave' | 'teams.remove' | 'teams.handOver' | 'teams.delete'
  /**
   * Whether the act is about another member, whom `?user=` names.
   * @default false
   */
  readonly aboutMember?: boolean
  readonly perform: Perform
}

function addConfirmedAct(app: Hono<AppEnv>, name: string, confirmed: ConfirmedAct): void {
  const { act, perform } = confirmed
  app.get(`/teams/:team/${name}`, requireTeam(act), async (c) => {
    const { team } = getMembership(c)
    const member = confirmed.aboutMember ? await findOther(c, act) : null
    if (confirmed.aboutMember && !member) return c.redirect(teamPath(team.id), 303)
    return renderConfirmation(c, name, confirmed, member)
  })
  addAct(app, name, act, perform)
}

/** Finds the member in the query whom the person may act on. */
async function findOther(c: Context<AppEnv>, act: TeamAct): Promise<TeamMember | null> {
  const { team, role } = getMembership(c)
  const members = await c.get('page').service.teams.members(team.id)
  const found = members.find(({ userId }) => userId === c.req.query('user'))
  if (!found || found.userId === getSignedInUser(c).id) return null
  return mayAct(role, act, found.role) ? found : null
}

function renderConfirmation(
  c: Context<AppEnv>,
  name: string,
  { texts }: ConfirmedAct,
  member: TeamMember | null,
) {
  const { t } = c.get('page')
  const team = <bdi>{getMembership(c).team.name}</bdi>
  const email = <bdi>{member?.email}</bdi>
  return renderPage(
    c,
    { title: titleOf(texts, c) },
    <Confirmation
      title={t.parts(`${texts}.question`, { team, email } as Record<'team' | 'email', Child>)}
      action={`${teamPath(getMembership(c).team.id)}/${name}`}
      fields={member ? { user: member.userId } : {}}
      cancelLabel={t('teams.stay')}
      confirmLabel={t(`${texts}.go`)}
    >
      <p>{t(`${texts}.text`)}</p>
    </Confirmation>,
  )
}

function titleOf(texts: ConfirmedAct['texts'], c: Context<AppEnv>): string {
  const { t } = c.get('page')
  if (texts === 'teams.leave' || texts === 'teams.delete') return t(texts)
  return t(`${texts}.title`)
}
