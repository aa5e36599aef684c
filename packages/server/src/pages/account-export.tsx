import type { Context, Hono } from 'hono'
import { toProblem } from '../admin/to-problem.ts'
import { createTextBody } from '../http/lines.ts'
import type { AppEnv } from '../http/variables.ts'
import { exportAccount, formatExport } from '../users/export-account.ts'
import { Submit } from './parts/fields.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from './parts/forms.ts'
import { hasProvenIdentity, IdentityField, requireProvableIdentity } from './parts/identity.tsx'
import { CsrfForm } from './parts/layout.tsx'
import { errorPage, renderPage } from './parts/render.tsx'

/** Adds the page from which people download everything that the service holds about them. */
export function addAccountExportPage(app: Hono<AppEnv>): void {
  app.get('/account/export', requireUser(), requireProvableIdentity, (c) => exportPage(c))

  app.post('/account/export', requireUser(), requireProvableIdentity, async (c) => {
    const { service, t } = c.get('page')
    const form = await readCsrfForm(c)
    if (!(await hasProvenIdentity(c, form))) return exportPage(c, t('account.wrong'))
    const account = await service.users.findAccount(getSignedInUser(c).id)
    if (!account) return c.redirect('/login', 303)
    const { database, admin, clock, logger } = service
    const pages = exportAccount(database, admin.billing, account)
    try {
      const body = await createTextBody(formatExport(pages, clock.now()), (error) =>
        logger.error({ err: error }, 'The export of an account was cut off'),
      )
      c.header('content-type', 'application/json; charset=utf-8')
      c.header('content-disposition', 'attachment; filename="account.json"')
      c.header('cache-control', 'no-store')
      return c.body(body)
    } catch (error) {
      return showOutage(c, error)
    }
  })
}

/** Explains that the payment provider is unavailable. Throws all other errors again. */
export function showOutage(c: Context<AppEnv>, error: unknown) {
  const { problem } = toProblem(error)
  if (problem !== 'provider-unavailable') throw error
  const { t } = c.get('page')
  return errorPage(c, {
    status: 503,
    title: t('error.unavailable.title'),
    message: t('account.providerAway'),
  })
}

function exportPage(c: Context<AppEnv>, problem?: string) {
  const { t } = c.get('page')
  return renderPage(
    c,
    { title: t('export.title'), status: problem ? 422 : 200 },
    <section class="card narrow stack">
      <h1>{t('export.title')}</h1>
      <p>{t('export.text')}</p>
      <p>{t('export.without')}</p>
      <CsrfForm action="/account/export">
        <IdentityField problem={problem} />
        <Submit class="primary wide">{t('export.go')}</Submit>
      </CsrfForm>
      <p class="aside">
        <a href="/account">{t('account.back')}</a>
      </p>
    </section>,
  )
}
