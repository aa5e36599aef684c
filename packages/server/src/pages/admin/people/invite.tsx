import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../../http/variables.ts'
import { TextField } from '../../parts/fields.tsx'
import { readCsrfForm } from '../../parts/forms.ts'
import { CsrfForm, usePage } from '../../parts/layout.tsx'
import {
  mayCall,
  performOrShowProblem,
  renderProblem,
  requireRole,
  runOperation,
} from '../parts.tsx'

const PATH = '/admin/people/invite'

/** Adds the form with which operators invite people. */
export function addInvitationPage(app: Hono<AppEnv>): void {
  app.post(PATH, requireRole('admin'), async (c) => {
    const form = await readCsrfForm(c)
    return performOrShowProblem(
      c,
      async () => {
        await runOperation(c, 'users.invite', { email: form.get('email') ?? '' }, form)
        return c.redirect('/admin/people?done=invited', 303)
      },
      (problem) => renderProblem(c, problem),
    )
  })
}

/**
 * The form that invites a person. Renders nothing if the operator's role or the settings do not
 * allow it.
 */
export const InvitePerson: FC = () => {
  const { t, service, user } = usePage()
  const { registration } = service.config.settings
  if (!user || !mayCall(user, 'users.invite')) return null
  if (!service.recovery.hasMail || registration === 'closed') return null
  return (
    <section class="card stack" aria-labelledby="invite-title">
      <h2 id="invite-title">{t('people.invite.title')}</h2>
      <p>{t('people.invite.lead')}</p>
      <CsrfForm action={PATH} class="row bottom find">
        <TextField
          id="invite"
          label={t('signIn.email')}
          input={{ name: 'email', type: 'email', required: true, maxlength: 254 }}
        />
        <button type="submit">{t('people.invite')}</button>
      </CsrfForm>
    </section>
  )
}
