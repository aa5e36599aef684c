import type { Hono } from 'hono'
import { RETURNED_PATH } from '../../../billing.ts'
import { localPath } from '../../../http/same-origin.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { renderPage } from '../../parts/render.tsx'

/** What is not theirs, by the reason that billing gives. */
const NOT_THEIRS: Readonly<Record<string, { readonly what: string; readonly or: string }>> = {
  checkout_not_found: { what: 'payment page', or: 'have expired, or be' },
  invoice_not_found: { what: 'invoice', or: 'be' },
  not_found: { what: 'page', or: 'be' },
}

/** Whoever is signed in by now, perhaps in another tab, simply goes on. */
const SOLVED: readonly string[] = ['', 'unauthenticated']

/** Whoever is signed out signs in and goes on; everybody else reads what is the matter. */
export function addReturnedPage(app: Hono<AppEnv>): void {
  app.get(RETURNED_PATH, (c) => {
    const { user } = c.get('page')
    const returnTo = localPath(c.req.query('return_to'), '/billing')
    const again = encodeURIComponent(returnTo)
    if (!user) return c.redirect(`/login?return_to=${again}`, 303)
    const reason = c.req.query('reason') ?? ''
    if (SOLVED.includes(reason)) return c.redirect(returnTo, 303)
    const missing = Object.hasOwn(NOT_THEIRS, reason) ? NOT_THEIRS[reason] : undefined
    const title = missing ? 'Not found' : 'Please try again'
    return renderPage(
      c,
      { title, status: missing ? 404 : 503 },
      <section class="card narrow">
        <h1>{title}</h1>
        {missing ? (
          <p>
            There is no such {missing.what} of <strong>{user.email}</strong>. It may {missing.or}{' '}
            that of another account.
          </p>
        ) : (
          <p>
            The payment provider could not be asked just now. What was paid is noted in any case.
          </p>
        )}
        <p class="aside">
          {missing ? (
            <a href={`/login?prompt=select_account&return_to=${again}`}>Use another account</a>
          ) : (
            <a href={returnTo}>Try again</a>
          )}
          {' · '}
          <a href="/billing">Go to billing</a>
        </p>
      </section>,
    )
  })
}
