import type { Context, Hono } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { invitationPath, JOIN_PATH, TeamRefused } from '../../teams/team.ts'
import { Confirmation, isCancelled } from '../parts/confirmation.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from '../parts/forms.ts'
import { renderPage } from '../parts/render.tsx'
import { updateProviderAfterMemberChange } from './follow-members.ts'
import { teamPath } from './notices.ts'

/** Adds the page where a person accepts an invitation. */
export function addJoinTeamPage(app: Hono<AppEnv>): void {
  app.get(JOIN_PATH, requireUser(), async (c) => {
    const { service, t } = c.get('page')
    const token = c.req.query('invitation') ?? ''
    try {
      const { team, role } = await service.teams.findInvitation(token, getSignedInUser(c))
      return renderPage(
        c,
        { title: t('teams.join.title') },
        <Confirmation
          title={t.parts('teams.join.question', { team: <bdi>{team.name}</bdi> })}
          action={JOIN_PATH}
          fields={{ invitation: token }}
          cancelLabel={t('teams.join.stay')}
          confirmLabel={t('teams.join.go')}
          isHarmless
        >
          <p>{t('teams.join.text', { role: t(`teams.role.${role}`) })}</p>
        </Confirmation>,
      )
    } catch (error) {
      if (!(error instanceof TeamRefused)) throw error
      return renderRefusal(c, error, token)
    }
  })

  app.post(JOIN_PATH, requireUser(), async (c) => {
    const { service } = c.get('page')
    const form = await readCsrfForm(c)
    if (isCancelled(form)) return c.redirect('/teams', 303)
    const token = form.get('invitation') ?? ''
    try {
      const team = await service.teams.accept(token, getSignedInUser(c))
      await updateProviderAfterMemberChange(service, team)
      return c.redirect(teamPath(team.id, 'joined'), 303)
    } catch (error) {
      if (!(error instanceof TeamRefused)) throw error
      return renderRefusal(c, error, token)
    }
  })
}

/** Says why an invitation cannot be accepted. Tells other people nothing about the team. */
function renderRefusal(c: Context<AppEnv>, refusal: TeamRefused, token: string) {
  const { t } = c.get('page')
  const again = new URLSearchParams({
    prompt: 'select_account',
    return_to: invitationPath(token),
  })
  return renderPage(
    c,
    { title: t('teams.join.title'), status: 404 },
    <section class="card narrow">
      <h1>{t('teams.join.title')}</h1>
      <p role="alert">{refusal.in(t)}</p>
      <p class="aside">
        {refusal.reason === 'otherAddress' ? (
          <a href={`/login?${again}`}>{t('teams.join.other')}</a>
        ) : (
          <a href="/teams">{t('teams.toList')}</a>
        )}
      </p>
    </section>,
  )
}
