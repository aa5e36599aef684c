import type { Context, Hono } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { TeamRefused } from '../../teams/team.ts'
import { Submit, TextField } from '../parts/fields.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from '../parts/forms.ts'
import { CsrfForm, Heading, Note } from '../parts/layout.tsx'
import { renderPage } from '../parts/render.tsx'
import { Empty, Table } from '../parts/table.tsx'
import { findTeamNotice, teamPath } from './notices.ts'

/** Adds the list of the person's teams, with the form that creates one. */
export function addTeamListPage(app: Hono<AppEnv>): void {
  app.get('/teams', requireUser(), (c) => renderTeams(c))

  app.post('/teams', requireUser(), async (c) => {
    const { service, t } = c.get('page')
    const name = (await readCsrfForm(c)).get('name') ?? ''
    try {
      const { id } = await service.teams.create(name, getSignedInUser(c))
      return c.redirect(teamPath(id, 'created'), 303)
    } catch (error) {
      if (!(error instanceof TeamRefused)) throw error
      return renderTeams(c, { name, problem: error.in(t) })
    }
  })
}

async function renderTeams(
  c: Context<AppEnv>,
  { name = '', problem }: { readonly name?: string; readonly problem?: string } = {},
) {
  const { service, t } = c.get('page')
  const all = await service.teams.listOf(getSignedInUser(c).id)
  return renderPage(
    c,
    { title: t('teams.title'), status: problem === undefined ? 200 : 422 },
    <div class="billing">
      <Heading title={t('teams.title')} lead={t('teams.lead')} />
      <div class="stack">
        <Note tone="good" text={findTeamNotice(c.req.query('done'), t)} />
        <section class="card" aria-label={t('teams.yours')}>
          {all.length === 0 ? (
            <Empty title={t('teams.empty')}>{t('teams.emptyText')}</Empty>
          ) : (
            <Table
              caption={t('teams.yours')}
              columns={[t('teams.name'), t('teams.role')]}
              rows={all.map(({ team, role }) => [
                <a href={teamPath(team.id)}>
                  <bdi>{team.name}</bdi>
                </a>,
                t(`teams.role.${role}`),
              ])}
            />
          )}
        </section>
        <section class="card" aria-labelledby="new-team-title">
          <h2 id="new-team-title">{t('teams.new')}</h2>
          <CsrfForm action="/teams" data-once>
            <TextField
              id="team-name"
              label={t('teams.name')}
              problem={problem}
              input={{
                name: 'name',
                value: name,
                maxlength: 100,
                required: true,
                autocomplete: 'off',
              }}
            />
            <Submit class="primary">{t('teams.create')}</Submit>
          </CsrfForm>
        </section>
      </div>
    </div>,
  )
}
