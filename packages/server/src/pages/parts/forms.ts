import { timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import type { ServiceContext } from '../../context.ts'
import { isReadable, readText, UnreadableRequest } from '../../http/readable.ts'
import { isSameOrigin } from '../../http/same-origin.ts'
import { type AppEnv, OWN_PAYER, type PageContext } from '../../http/variables.ts'
import { textForRequest } from '../../messages/messages.ts'
import { defineError } from '../../service-error.ts'
import type { User } from '../../users/user.ts'

/**
 * Thrown if a POST does not come from a page of this service, or belongs to another session (CSRF
 * protection).
 */
export class ForeignForm extends defineError('forbidden') {}

const FORM = 'application/x-www-form-urlencoded'

/**
 * Reads the fields of a posted form. No sign-in is required.
 * @throws ForeignForm if the form does not come from a page of this service.
 */
export async function readForm(c: Context<AppEnv>): Promise<URLSearchParams> {
  if (!isSameOrigin(c.req.raw, c.get('page').service.url)) throw new ForeignForm()
  const type = (c.req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== FORM) throw new ForeignForm()
  const text = await readText(c)
  if (!isReadable(text)) throw new UnreadableRequest()
  return new URLSearchParams(text)
}

/**
 * Reads the fields of a form that requires a signed-in person and a valid CSRF token.
 * @throws ForeignForm
 */
export async function readCsrfForm(c: Context<AppEnv>): Promise<URLSearchParams> {
  const form = await readForm(c)
  const { csrfToken } = c.get('page')
  if (csrfToken === null || !equal(form.get('csrf_token') ?? '', csrfToken)) throw new ForeignForm()
  return form
}

function equal(sentToken: string, expected: string): boolean {
  const [a, b] = [Buffer.from(sentToken), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Provides the page context with the signed-in user. Use it after `freshToken()`. */
export function providePageContext(service: ServiceContext): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const session = await service.sessions.find(c.req.header('cookie') ?? null)
    const user = session ? await service.users.findById(session.userId) : null
    const csrfToken = c.get('csrfToken') ?? null
    const signedIn = {
      user,
      session: user && session,
      signedInAt: session?.authenticatedAt ?? null,
    }
    const language = choosePageText(c, user?.locale)
    c.set('page', {
      service,
      ...signedIn,
      csrfToken,
      path: c.req.path,
      payer: OWN_PAYER,
      ...language,
    })
    return next()
  }
}

/**
 * Chooses the language of a page: by `ui_locales` in the URL, then by the account, then by the
 * browser.
 */
export function choosePageText(
  c: Context<AppEnv>,
  locale?: string | null,
): Pick<PageContext, 't' | 'languageQuery'> {
  const sent = c.req.query('ui_locales')
  const languageQuery = sent ? `?${new URLSearchParams({ ui_locales: sent })}` : ''
  return { t: textForRequest(c.req.raw, locale), languageQuery }
}

/**
 * Gives the language of the account precedence over those of the browser on the pages of the
 * authorization server. Reads the session only for page requests with a cookie.
 */
export function preferAccountLanguage(service: ServiceContext): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const cookie = c.req.header('cookie')
    if (cookie && (c.req.header('accept') ?? '').includes('text/html')) {
      const session = await service.sessions.find(cookie)
      const user = session ? await service.users.findById(session.userId) : null
      const browser = c.req.header('accept-language')
      if (user?.locale) {
        const languages = browser ? `${user.locale}, ${browser}` : user.locale
        c.req.raw.headers.set('accept-language', languages)
      }
    }
    return next()
  }
}

/**
 * Requires a signed-in user. Redirects other visitors to the sign-in page, from which they return.
 */
export function requireUser(): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (c.get('page').user) return next()
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      return c.redirect(
        `/login?unsent=yes&return_to=${encodeURIComponent(getReferringPage(c))}`,
        303,
      )
    }
    const { pathname, search } = new URL(c.req.url)
    return c.redirect(`/login?return_to=${encodeURIComponent(pathname + search)}`, 302)
  }
}

/** The page that contained the form, from the Referer header. `/` if there is none. */
function getReferringPage(c: Context<AppEnv>): string {
  const referer = c.req.header('referer') ?? ''
  if (!URL.canParse(referer)) return '/'
  const { origin, pathname, search } = new URL(referer)
  return origin === new URL(c.get('page').service.url).origin ? pathname + search : '/'
}

/** Returns the signed-in user in a handler that runs after `requireUser()`. */
export function getSignedInUser(c: Context<AppEnv>): User {
  const { user } = c.get('page')
  if (!user) throw new Error('This page must be registered behind requireUser()')
  return user
}
