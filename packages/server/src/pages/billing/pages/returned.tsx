import type { Context } from 'hono'
import { localPath } from '../../../http/same-origin.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { renderPage } from '../../parts/render.tsx'

/** Reasons that concern an object of another account. */
const FOREIGN_OBJECTS = ['checkout_not_found', 'invoice_not_found', 'not_found'] as const

/** Reasons that no longer apply once the person is signed in, perhaps in another tab. */
const RESOLVED_REASONS: readonly string[] = ['', 'unauthenticated']

/**
 * Handles a return from a hosted page that could not be completed. Asks a signed-out person to sign
 * in and then continues; otherwise shows the reason.
 */
export function showReturnFailure(c: Context<AppEnv>): Response | Promise<Response> {
  const { user, t } = c.get('page')
  const returnTo = localPath(c.req.query('return_to'), '/billing')
  const again = encodeURIComponent(returnTo)
  if (!user) return c.redirect(`/login?return_to=${again}`, 303)
  const reason = c.req.query('reason') ?? ''
  if (RESOLVED_REASONS.includes(reason)) return c.redirect(returnTo, 303)
  const missing = FOREIGN_OBJECTS.find((name) => name === reason)
  const title = t(missing ? 'returned.notFound' : 'returned.again')
  return renderPage(
    c,
    { title, status: missing ? 404 : 503 },
    <section class="card narrow">
      <h1>{title}</h1>
      <p>
        {missing
          ? t.parts(`returned.${missing}`, { email: <strong>{user.email}</strong> })
          : t('returned.away')}
      </p>
      <p class="aside">
        {missing ? (
          <a href={`/login?prompt=select_account&return_to=${again}`}>{t('signIn.other')}</a>
        ) : (
          <a href={returnTo}>{t('refused.again')}</a>
        )}
        {' · '}
        <a href="/billing">{t('returned.toBilling')}</a>
      </p>
    </section>,
  )
}
