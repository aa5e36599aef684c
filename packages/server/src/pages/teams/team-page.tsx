import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import { formatDay } from '../../dates.ts'
import type { AppEnv } from '../../http/variables.ts'
import { mayAct, TEAM_ROLES, type TeamRole } from '../../teams/roles.ts'
import {
  invitationPath,
  type TeamInvitation,
  type TeamMember,
  type TeamMembership,
  TeamRefused,
} from '../../teams/team.ts'
import { emailKey, isEmail } from '../../users/parse.ts'
import { type BillingAccount, readAccount } from '../billing/model/account.ts'
import { describeCard } from '../billing/model/describe-card.ts'
import { describeState } from '../billing/model/describe-state.ts'
import { Copyable } from '../parts/dialogs.tsx'
import { Choice, Submit, TextField } from '../parts/fields.tsx'
import { getSignedInUser, readCsrfForm } from '../parts/forms.ts'
import { CsrfForm, Heading, Note, usePage } from '../parts/layout.tsx'
import { type PageOptions, renderPage } from '../parts/render.tsx'
import { Day, Table } from '../parts/table.tsx'
import { getMembership, requireTeam } from '../parts/team.ts'
import { findTeamNotice, teamPath } from './notices.ts'

/** The roles that an invitation can give. */
const INVITED = ['member', 'admin'] as const

/** Adds the page of a team, and the form that invites, whose response shows the link once. */
export function addTeamPage(app: Hono<AppEnv>): void {
  app.get('/teams/:team', requireTeam('see'), (c) => renderTeam(c))

  app.post('/teams/:team/invite', requireTeam('invite'), async (c) => {
    const { t } = c.get('page')
    const form = await readCsrfForm(c)
    const email = form.get('email') ?? ''
    try {
      const role = INVITED.find((each) => each === form.get('role'))
      if (!role) throw new TeamRefused('role')
      return await renderTeam(c, { made: await invite(c, { email, role }) })
    } catch (error) {
      if (!(error instanceof TeamRefused)) throw error
      return renderTeam(c, { email, inviteProblem: error.in(t) })
    }
  })
}

interface NewInvitation {
  readonly invitation: TeamInvitation
  /** The token of the link to pass on. `null` if the link was sent by mail. */
  readonly token: string | null
}

/**
 * Invites a person, by mail if the service sends mail and the inviting person has a verified
 * address. Too many invitations are not sent; their links can still be passed on (threat N8).
 */
async function invite(
  c: Context<AppEnv>,
  invited: { readonly email: string; readonly role: TeamRole },
): Promise<NewInvitation> {
  const { service, t } = c.get('page')
  const { teams, recovery, limits, database } = service
  const { id: userId, emailVerifiedAt } = getSignedInUser(c)
  const { team } = getMembership(c)
  const isSent =
    recovery.hasMail &&
    emailVerifiedAt !== null &&
    isEmail(invited.email.trim()) &&
    (await limits.countInvitation(emailKey(invited.email), userId))
  if (!isSent) return teams.invite(team.id, invited, { userId })
  const { id, token } = recovery.createInvitationToken()
  return database.unitOfWork(async () => {
    const { invitation } = await teams.invite(team.id, invited, { userId }, token)
    await recovery.inviteToTeam({ id, email: invitation.email, inviter: userId }, t.language)
    return { invitation, token: null }
  })
}

interface TeamView {
  /** Why an act was refused. */
  readonly problem?: string
  /** HTTP status of a refusal. @default 422 */
  readonly status?: PageOptions['status']
  /** The address in a form to invite that was refused, and why. */
  readonly email?: string
  readonly inviteProblem?: string
  /** The invitation that was just written. */
  readonly made?: NewInvitation
}

export async function renderTeam(c: Context<AppEnv>, view: TeamView = {}): Promise<Response> {
  const { service, t } = c.get('page')
  const membership = getMembership(c)
  const { team, role } = membership
  const mayInvite = mayAct(role, 'invite')
  const [members, invitations, account] = await Promise.all([
    service.teams.members(team.id),
    mayInvite ? service.teams.invitations(team.id) : [],
    readAccount(c),
  ])
  const isRefused = view.problem !== undefined || view.inviteProblem !== undefined
  return renderPage(
    c,
    { title: team.name, status: isRefused ? (view.status ?? 422) : 200 },
    <div class="billing">
      <Heading
        title={<bdi>{team.name}</bdi>}
        lead={t('teams.yourRole', { role: t(`teams.role.${role}`) })}
      />
      <div class="stack">
        <Note tone="good" text={findTeamNotice(c.req.query('done'), t)} />
        <Note tone="bad" role="alert" text={view.problem} />
        {view.made && <NewLink {...view.made} />}
        <PlanCard account={account} membership={membership} />
        <Members members={members} membership={membership} />
        {mayInvite && <Invite role={role} teamId={team.id} view={view} />}
        {invitations.length > 0 && (
          <Invitations invitations={invitations} membership={membership} />
        )}
        <Settings membership={membership} />
      </div>
    </div>,
  )
}

/** The plan of the team, which all members see. */
const PlanCard: FC<{ account: BillingAccount; membership: TeamMembership }> = (props) => {
  const { account, membership } = props
  const { t } = usePage()
  const { running, plan, billable } = account
  // The provider is not asked: members see only what the page needs.
  const unasked = { periodEndsAt: null, endReason: null, upcoming: null }
  const state = running && describeState(running, unasked, describeCard(billable) !== null, t)
  return (
    <section class="card" aria-labelledby="plan-title">
      <h2 id="plan-title">{t('teams.plan')}</h2>
      {running && state ? (
        <p class="row">
          <strong>{plan?.name ?? running.providerPlan}</strong>
          <span>{t('teams.plan.seats', { quantity: running.quantity })}</span>
          <span class={`badge ${state.tone}`}>{state.label}</span>
        </p>
      ) : (
        <p>{t('teams.plan.none')}</p>
      )}
      {mayAct(membership.role, 'bill') && (
        <p>
          <a class="button" href={account.path}>
            {t('teams.plan.manage')}
          </a>
        </p>
      )}
    </section>
  )
}

const Members: FC<{ members: readonly TeamMember[]; membership: TeamMembership }> = (props) => {
  const { t, user } = usePage()
  const { members, membership } = props
  return (
    <section class="card" aria-labelledby="members-title">
      <h2 id="members-title">{t('teams.members')}</h2>
      <Table
        caption={t('teams.members')}
        columns={[t('teams.member'), t('teams.role'), t('teams.joined'), t('table.actions')]}
        rows={members.map((member) => [
          <>
            <bdi>{member.email}</bdi>
            {member.name !== null && (
              <div class="quiet-text">
                <bdi>{member.name}</bdi>
              </div>
            )}
            {member.isDisabled && <span class="badge bad">{t('teams.disabled')}</span>}
          </>,
          t(`teams.role.${member.role}`),
          <Day at={member.joinedAt} />,
          member.userId === user?.id ? (
            <span class="quiet-text">{t('teams.you')}</span>
          ) : (
            <MemberActs member={member} membership={membership} />
          ),
        ])}
      />
    </section>
  )
}

const MemberActs: FC<{ member: TeamMember; membership: TeamMembership }> = (props) => {
  const { t } = usePage()
  const { member, membership } = props
  const { userId, email } = member
  const { team, role } = membership
  const base = teamPath(team.id)
  return (
    <span class="actions">
      {mayAct(role, 'setRole', member.role) && (
        <CsrfForm action={`${base}/role`} class="row" data-once>
          <input type="hidden" name="user" value={userId} />
          <select name="role" aria-label={t('teams.roleOf', { email })}>
            {TEAM_ROLES.map((each) => (
              <option value={each} selected={each === member.role}>
                {t(`teams.role.${each}`)}
              </option>
            ))}
          </select>
          <button type="submit" class="small" aria-label={t('teams.changeRoleOf', { email })}>
            {t('teams.changeRole')}
          </button>
        </CsrfForm>
      )}
      {mayAct(role, 'handOver') && !member.isDisabled && (
        <a
          class="button small"
          href={`${base}/hand-over?user=${userId}`}
          aria-label={t('teams.handOverTo', { email })}
        >
          {t('teams.handOver')}
        </a>
      )}
      {mayAct(role, 'remove', member.role) && (
        <a
          class="button small danger-quiet"
          href={`${base}/remove?user=${userId}`}
          aria-label={t('teams.removeOf', { email })}
        >
          {t('teams.remove')}
        </a>
      )}
    </span>
  )
}

/** The link of an invitation, which is shown once, unless it was sent by mail. */
const NewLink: FC<NewInvitation> = ({ token, invitation }) => {
  const { service, t } = usePage()
  const { email, expiresAt } = invitation
  const date = formatDay(expiresAt, t.locale)
  if (token === null) {
    return (
      <section class="note good stack" role="status">
        <h2>{t.parts('teams.invite.sent', { email: <bdi>{email}</bdi> })}</h2>
        <p>{t('teams.invite.sentText', { date })}</p>
      </section>
    )
  }
  return (
    <section class="note good stack" role="status">
      <h2>{t.parts('teams.invite.done', { email: <bdi>{email}</bdi> })}</h2>
      <p>{t.parts('teams.invite.text', { email: <bdi>{email}</bdi>, date })}</p>
      <Copyable
        id="invitation-link"
        value={`${service.url}${invitationPath(token)}`}
        what={t('teams.invite.link')}
      />
    </section>
  )
}

const Invite: FC<{ role: TeamRole; teamId: string; view: TeamView }> = (props) => {
  const { t } = usePage()
  const { role, teamId, view } = props
  return (
    <section class="card" aria-labelledby="invite-title">
      <h2 id="invite-title">{t('teams.invite')}</h2>
      <CsrfForm action={`${teamPath(teamId)}/invite`} data-once>
        <TextField
          id="invite-email"
          label={t('teams.invite.email')}
          hint={t('teams.invite.hint')}
          problem={view.inviteProblem}
          input={{
            type: 'email',
            name: 'email',
            value: view.email ?? '',
            maxlength: 254,
            required: true,
            autocomplete: 'off',
          }}
        />
        <fieldset>
          <legend>{t('teams.role')}</legend>
          {INVITED.filter((each) => mayAct(role, 'invite', each)).map((each) => (
            <Choice
              id={`invite-${each}`}
              type="radio"
              name="role"
              value={each}
              title={t(`teams.role.${each}`)}
              description={t(`teams.role.${each}.text`)}
              checked={each === 'member'}
            />
          ))}
        </fieldset>
        <Submit class="primary">{t('teams.invite.go')}</Submit>
      </CsrfForm>
    </section>
  )
}

const Invitations: FC<{
  invitations: readonly TeamInvitation[]
  membership: TeamMembership
}> = ({ invitations, membership: { team, role } }) => {
  const { t } = usePage()
  return (
    <section class="card" aria-labelledby="invitations-title">
      <h2 id="invitations-title">{t('teams.invitations')}</h2>
      <Table
        caption={t('teams.invitations')}
        columns={[t('teams.invite.email'), t('teams.role'), t('teams.expires'), t('table.actions')]}
        rows={invitations.map((each) => [
          <bdi>{each.email}</bdi>,
          t(`teams.role.${each.role}`),
          <Day at={each.expiresAt} />,
          mayAct(role, 'withdraw', each.role) && (
            <CsrfForm action={`${teamPath(team.id)}/withdraw`} data-once>
              <input type="hidden" name="invitation" value={each.id} />
              <button
                type="submit"
                class="small"
                aria-label={t('teams.withdrawOf', { email: each.email })}
              >
                {t('teams.withdraw')}
              </button>
            </CsrfForm>
          ),
        ])}
      />
    </section>
  )
}

const Settings: FC<{ membership: TeamMembership }> = ({ membership: { team, role } }) => {
  const { t } = usePage()
  const base = teamPath(team.id)
  return (
    <section class="card stack" aria-labelledby="rename-title">
      <h2 id="rename-title">{t(mayAct(role, 'rename') ? 'teams.rename' : 'teams.leave')}</h2>
      {mayAct(role, 'rename') && (
        <CsrfForm action={`${base}/rename`} data-once>
          <TextField
            id="team-name"
            label={t('teams.name')}
            input={{ name: 'name', value: team.name, maxlength: 100, required: true }}
          />
          <Submit>{t('teams.rename.go')}</Submit>
        </CsrfForm>
      )}
      <p class="row">
        <a class="button" href={`${base}/leave`}>
          {t('teams.leave')}
        </a>
        {mayAct(role, 'delete') && (
          <a class="button danger-quiet" href={`${base}/delete`}>
            {t('teams.delete')}
          </a>
        )}
        <a href="/teams">{t('teams.toList')}</a>
      </p>
    </section>
  )
}
