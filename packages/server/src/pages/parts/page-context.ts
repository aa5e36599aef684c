import type { Context, MiddlewareHandler } from 'hono'
import type { ServiceContext } from '../../context.ts'
import type { AppEnv } from '../../http/variables.ts'
import type { User } from '../../users/user.ts'

/** Behind `freshToken()`: looks up who is signed in, once for each page. */
export function providePageContext(service: ServiceContext): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const session = await service.sessions.find(c.req.header('cookie') ?? null)
    const user = session ? await service.users.findById(session.userId) : null
    c.set('page', { service, user, csrfToken: c.get('csrfToken') ?? null, path: c.req.path })
    return next()
  }
}

/** The signed-in user; everybody else is sent to sign in, and back. */
export function requireUser(): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (c.get('page').user) return next()
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      return c.redirect(`/login?unsent=yes&return_to=${encodeURIComponent(pageOfForm(c))}`, 303)
    }
    const { pathname, search } = new URL(c.req.url)
    return c.redirect(`/login?return_to=${encodeURIComponent(pathname + search)}`, 302)
  }
}

/** Where the form was, as the browser says; the first page where it does not. */
function pageOfForm(c: Context<AppEnv>): string {
  const referer = c.req.header('referer') ?? ''
  if (!URL.canParse(referer)) return '/'
  const { origin, pathname, search } = new URL(referer)
  return origin === new URL(c.get('page').service.url).origin ? pathname + search : '/'
}

/** For handlers behind `requireUser()`. */
export function userOf(c: Context<AppEnv>): User {
  const { user } = c.get('page')
  if (!user) throw new Error('This page goes behind requireUser()')
  return user
}
