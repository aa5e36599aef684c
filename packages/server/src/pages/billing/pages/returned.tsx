import type { Hono } from 'hono'
import { RETURNED_PATH } from '../../../billing.ts'
import { localPath } from '../../../http/same-origin.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { renderPage } from '../../parts/render.tsx'

/** Whoever is signed out signs in and goes on; everybody else reads what is the matter. */
export function addReturnedPage(app: Hono<AppEnv>): void {
  app.get(RETURNED_PATH, (c) => {
    const { user } = c.get('page')
    const returnTo = localPath(c.req.query('return_to'), '/billing')
    const again = encodeURIComponent(returnTo)
    if (!user) return c.redirect(`/login?return_to=${again}`, 303)
    const isTheirs = c.req.query('reason') !== 'checkout_not_found'
    const title = isTheirs ? 'Please try again' : 'Not found'
    return renderPage(
      c,
      { title, status: isTheirs ? 503 : 404 },
      <section class="card narrow">
        <h1>{title}</h1>
        {isTheirs ? (
          <p>The payment page could not be read just now. What was paid is noted in any case.</p>
        ) : (
          <p>
            There is no such payment page of <strong>{user.email}</strong>. It may have expired, or
            be that of another account.
          </p>
        )}
        <p class="aside">
          {isTheirs ? (
            <a href={returnTo}>Try again</a>
          ) : (
            <a href={`/login?prompt=select_account&return_to=${again}`}>Use another account</a>
          )}
          {' · '}
          <a href="/billing">Go to billing</a>
        </p>
      </section>,
    )
  })
}
