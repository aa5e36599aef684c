import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../../http/variables.ts'
import { parseRole, ROLES, type Role } from '../../../users/roles.ts'
import { readCsrfForm } from '../../parts/forms.ts'
import { Heading, usePage } from '../../parts/layout.tsx'
import { Day, Table } from '../../parts/table.tsx'
import { describeProvider } from '../billing/describe-provider.ts'
import { describeRole, Pager, renderAdmin, requireRole, runOperation } from '../parts.tsx'
import { TeamTable } from '../teams/team-table.tsx'
import { FindPerson, findPeople } from './find.tsx'
import { addInvitationPage, InvitePerson } from './invite.tsx'
import type { PersonJson } from './person-data.ts'

/** Adds the list of people, and the form that finds one. */
export function addPeoplePage(app: Hono<AppEnv>): void {
  addInvitationPage(app)

  app.get('/admin/people', requireRole('viewer'), async (c) => {
    const { t } = c.get('page')
    const role = parseRole(c.req.query('role'))
    const after = c.req.query('after')
    const { data, next } = await runOperation<{ data: PersonJson[]; next: string | null }>(
      c,
      'users.list',
      { ...(role && { role }), ...(after !== undefined && { after }) },
    )
    const isUnknown = c.req.query('done') === 'unknown'
    return renderAdmin(
      c,
      {
        title: t('admin.people'),
        ...(c.req.query('done') === 'invited' && { notice: t('people.invited') }),
      },
      <>
        <Heading title={t('admin.people')} lead={t('people.lead')} />
        <FindPerson problem={isUnknown ? t('people.unknown') : undefined} />
        <InvitePerson />
        <section class="card stack" aria-labelledby="people-title">
          <h2 id="people-title">{t(role === null ? 'people.newest' : 'people.operators')}</h2>
          <RoleFilter chosen={role} />
          {data.length === 0 ? <p>{t('people.none')}</p> : <PeopleTable people={data} />}
          <Pager c={c} next={next} />
        </section>
      </>,
    )
  })

  app.post('/admin/people', requireRole('viewer'), async (c) => {
    const given = (await readCsrfForm(c)).get('person') ?? ''
    const found = await findPeople(c, given)
    const { t } = c.get('page')
    const paths = [
      ...found.people.map(({ id }) => `/admin/people/${id}`),
      ...found.teams.map(({ id }) => `/admin/teams/${id}`),
    ]
    const [first] = paths
    if (first === undefined) return c.redirect('/admin/people?done=unknown', 303)
    if (paths.length === 1) return c.redirect(first, 303)
    return renderAdmin(
      c,
      { title: t('admin.people') },
      <>
        <Heading title={t('admin.people')} lead={t('people.several')} />
        <FindPerson value={given} />
        {found.people.length > 0 && (
          <section class="card" aria-label={t('admin.people')}>
            <PeopleTable people={found.people} />
          </section>
        )}
        {found.teams.length > 0 && (
          <section class="card" aria-label={t('admin.teams')}>
            <TeamTable teams={found.teams} />
          </section>
        )}
      </>,
    )
  })
}

const RoleFilter: FC<{ chosen: Role | null }> = ({ chosen }) => {
  const { t } = usePage()
  return (
    <nav class="row" aria-label={t('people.filter')}>
      {[null, ...ROLES].map((role) => (
        <a
          class="button small"
          href={role === null ? '/admin/people' : `/admin/people?role=${role}`}
          aria-current={role === chosen ? 'true' : undefined}
        >
          {role === null ? t('people.everyone') : t(`people.${role}s`)}
        </a>
      ))}
    </nav>
  )
}

const PeopleTable: FC<{ people: readonly PersonJson[] }> = ({ people }) => {
  const { t } = usePage()
  return (
    <Table
      caption={t('admin.people')}
      columns={[
        t('people.person'),
        t('accounts.state'),
        t('people.customerAt'),
        t('accounts.created'),
      ]}
      rows={people.map((person) => [
        <>
          <a href={`/admin/people/${person.id}`}>
            <bdi>{person.email}</bdi>
          </a>
          {person.name !== null && (
            <div class="quiet-text">
              <bdi>{person.name}</bdi>
            </div>
          )}
        </>,
        <PersonState person={person} />,
        person.provider === null ? (
          <span class="quiet-text">{t('table.none')}</span>
        ) : (
          describeProvider(person.provider)
        ),
        <Day at={new Date(person.created_at)} />,
      ])}
    />
  )
}

/** Badges with the state and the role of a person. */
export const PersonState: FC<{ person: Pick<PersonJson, 'disabled_at' | 'role'> }> = ({
  person,
}) => {
  const { t } = usePage()
  return (
    <span class="row">
      {person.disabled_at === null ? (
        <span class="badge good">{t('people.enabled')}</span>
      ) : (
        <span class="badge bad">{t('people.disabled')}</span>
      )}
      {person.role !== null && <span class="badge">{describeRole(person.role, t)}</span>}
    </span>
  )
}
