import type { Hono } from 'hono'
import type { TeamJson } from '../../../admin/operations/teams.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { Heading } from '../../parts/layout.tsx'
import { addActionRoutes } from '../billing/action.tsx'
import { OWNER_ACTIONS } from '../billing/acts.ts'
import { addInvoicesPage } from '../billing/invoices.tsx'
import type { ListPage } from '../billing/owner-data.ts'
import { Pager, renderAdmin, requireRole, runOperation } from '../parts.tsx'
import { SearchForm } from '../search-form.tsx'
import { addTeamPage, TEAM_PAGES } from './team.tsx'
import { TeamTable } from './team-table.tsx'

/** Adds the list of teams, the page of a team, and the acts on its billing. */
export function addTeamPages(app: Hono<AppEnv>): void {
  app.get(TEAM_PAGES.path, requireRole('viewer'), async (c) => {
    const { t } = c.get('page')
    const search = c.req.query('search')?.trim() ?? ''
    const after = c.req.query('after')
    const { data, next } = await runOperation<ListPage<TeamJson>>(c, 'teams.list', {
      ...(search !== '' && { search }),
      ...(after !== undefined && { after }),
    })
    return renderAdmin(
      c,
      { title: t('admin.teams') },
      <>
        <Heading title={t('admin.teams')} lead={t('adminTeams.lead')} />
        <section class="card stack" aria-labelledby="teams-title">
          <h2 id="teams-title">{t(search === '' ? 'adminTeams.newest' : 'adminTeams.found')}</h2>
          <SearchForm action={TEAM_PAGES.path} label={t('adminTeams.search')} value={search} />
          {data.length > 0 ? (
            <TeamTable teams={data} />
          ) : (
            <p>{t(search === '' ? 'adminTeams.none' : 'adminTeams.notFound')}</p>
          )}
          <Pager c={c} next={next} />
        </section>
      </>,
    )
  })
  addTeamPage(app)
  for (const act of OWNER_ACTIONS) addActionRoutes(app, act, TEAM_PAGES)
  addInvoicesPage(app, TEAM_PAGES)
}
