import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { TeamWithMembersJson } from '../../../admin/operations/teams.ts'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { usePage } from '../../parts/layout.tsx'
import { Day, Fact, Moment, Table } from '../../parts/table.tsx'
import type { ActionPages } from '../billing/action.tsx'
import { CreditNotes } from '../billing/credit-notes.tsx'
import { describeProvider } from '../billing/describe-provider.ts'
import { Disputes } from '../billing/dispute-table.tsx'
import { BILLING_DONE } from '../billing/done.ts'
import { Invoices } from '../billing/invoices.tsx'
import { type Payer, readBillingData } from '../billing/owner-data.ts'
import { Quotas } from '../billing/quotas.tsx'
import { Subscriptions } from '../billing/subscriptions.tsx'
import { Taxes } from '../billing/taxes.tsx'
import { getOperator, mayCall, renderAdmin, requireRole, runOperation } from '../parts.tsx'

/** A team as a customer, for the sections about billing. */
interface TeamPayer extends Payer {
  readonly team: TeamWithMembersJson
}

const PATH = '/admin/teams'
const toOwner = (id: string) => `team:${id}`

/** The pages of teams, to which the acts on billing belong. */
export const TEAM_PAGES: ActionPages<TeamPayer> = {
  path: PATH,
  target: (id) => ({ owner: toOwner(id) }),
  read: readTeam,
  isForbidden: isOwnTeam,
  render: renderTeam,
}

/**
 * Reads a team with its members.
 * @throws AdminProblem `not-found`
 */
async function readTeam(c: Context<AppEnv>, id: string): Promise<TeamPayer> {
  const team = await runOperation<TeamWithMembersJson>(c, 'teams.get', { id })
  const path = `${PATH}/${encodeURIComponent(id)}`
  return { team, owner: toOwner(id), id, name: team.name, path, provider: team.provider }
}

/** Whether the operator is a member of the team, and so cannot act on it. */
function isOwnTeam(c: Context<AppEnv>, { team }: TeamPayer): boolean {
  const { id } = getOperator(c)
  return team.members.some((member) => member.user_id === id)
}

/** Adds the page of a team. */
export function addTeamPage(app: Hono<AppEnv>): void {
  app.get(`${PATH}/:id`, requireRole('viewer'), (c) => renderTeam(c, c.req.param('id'), null))
}

/** Renders the page of a team, with the actions that the operator's role allows. */
async function renderTeam(
  c: Context<AppEnv>,
  id: string,
  problem: AdminProblem | null,
): Promise<Response> {
  const { t } = c.get('page')
  const payer = await readTeam(c, id)
  const data = await readBillingData(c, payer)
  const operator = getOperator(c)
  const isOwn = isOwnTeam(c, payer)
  const can = (name: string) => !isOwn && mayCall(operator, name)
  const done = problem ? undefined : BILLING_DONE.find((name) => name === c.req.query('done'))
  return renderAdmin(
    c,
    { title: payer.name, notice: done && t(`people.done.${done}`), problem },
    <>
      <div class="heading">
        <h1>
          <bdi>{payer.name}</bdi>
        </h1>
      </div>
      {isOwn && operator.role !== 'viewer' && <p class="note">{t('adminTeams.own')}</p>}
      <Details team={payer.team} />
      <Members team={payer.team} />
      <Subscriptions data={data} can={can} />
      <Quotas data={data} can={can} />
      <Taxes data={data} can={can} />
      <Invoices data={data} can={can} />
      <CreditNotes data={data} can={can} />
      <Disputes data={data} can={can} />
    </>,
  )
}

const Details: FC<{ team: TeamWithMembersJson }> = ({ team }) => {
  const { t } = usePage()
  return (
    <section class="card stack" aria-labelledby="facts-title">
      <h2 id="facts-title">{t('adminTeams.facts')}</h2>
      <dl class="facts">
        <Fact term={t('accounts.id')}>{team.id}</Fact>
        <Fact term={t('adminTeams.mailTo')}>
          <bdi>{team.email}</bdi>
        </Fact>
        <Fact term={t('accounts.created')}>
          <Moment at={new Date(team.created_at)} />
        </Fact>
        {team.provider !== null && (
          <Fact term={t('people.customerAt')}>{describeProvider(team.provider)}</Fact>
        )}
      </dl>
    </section>
  )
}

const Members: FC<{ team: TeamWithMembersJson }> = ({ team: { members } }) => {
  const { t } = usePage()
  return (
    <section class="card" aria-labelledby="members-title">
      <h2 id="members-title">{t('adminTeams.members')}</h2>
      {members.length === 0 ? (
        <p>{t('adminTeams.noMembers')}</p>
      ) : (
        <Table
          caption={t('adminTeams.members')}
          columns={[t('people.person'), t('teams.role'), t('accounts.state'), t('teams.joined')]}
          rows={members.map((member) => [
            <a href={`/admin/people/${member.user_id}`}>
              <bdi>{member.email}</bdi>
            </a>,
            t(`teams.role.${member.role}`),
            member.disabled ? (
              <span class="badge bad">{t('people.disabled')}</span>
            ) : (
              <span class="badge good">{t('people.enabled')}</span>
            ),
            <Day at={new Date(member.joined_at)} />,
          ])}
        />
      )}
    </section>
  )
}
