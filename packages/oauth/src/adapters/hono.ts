import type { MiddlewareHandler } from 'hono'
import {
  type AuthenticatedClient,
  type AuthenticatedUser,
  assertAnyScope,
  assertScopes,
  type Caller,
  type Credentials,
  type GuardName,
} from '../guard/guard.ts'
import { fromWebRequest, toWebResponse } from '../http/exchange.ts'
import type { AuthorizationServer } from '../server.ts'
import type { UserRecord } from '../users.ts'

export interface TollgateVariables<User extends UserRecord = UserRecord> {
  /** Set by `auth('api')`. */
  user: AuthenticatedUser<User>
  /** Set by `auth('client')`. */
  oauthClient: AuthenticatedClient
  /** Set by `freshToken()`, for the page. */
  csrfToken: string | null
}

type Middleware<User extends UserRecord> = MiddlewareHandler<{ Variables: TollgateVariables<User> }>

export interface HonoAdapter<User extends UserRecord> {
  /** Every route of the authorization server; other addresses pass on. `app.use(routes)` */
  readonly routes: MiddlewareHandler
  /** Lets in only callers with a valid token: `api` for users, `client` for clients themselves. */
  auth(guard?: GuardName): Middleware<User>
  /** All of these scopes; after `auth`. */
  scopes(...names: string[]): Middleware<User>
  /** At least one of these scopes; after `auth`. */
  scope(...names: string[]): Middleware<User>
  /** Cookie mode for your pages; `c.get('csrfToken')` goes into the page. */
  freshToken(): Middleware<User>
}

/**
 * @example
 * const { routes, auth, scopes } = forHono(oauth)
 * app.use(routes)
 * app.get('/orders', auth('api'), scopes('place-orders'), (c) => c.json(listOrders(c.get('user').id)))
 */
export function forHono<User extends UserRecord>(
  oauth: AuthorizationServer<User>,
): HonoAdapter<User> {
  const { guard } = oauth

  const check =
    (assert: (caller: Caller, names: readonly string[]) => void) =>
    (...names: string[]): Middleware<User> =>
    async (c, next) => {
      const caller: Caller | undefined = c.get('user') ?? c.get('oauthClient')
      if (!caller) throw new Error("scopes() and scope() go after auth('api') or auth('client')")
      try {
        assert(caller, names)
      } catch (error) {
        return toWebResponse(guard.refusal(error))
      }
      return next()
    }

  return {
    routes: (c, next) => (oauth.handles(c.req.path) ? oauth.fetch(c.req.raw) : next()),
    auth:
      (name = 'api') =>
      async (c, next) => {
        try {
          const credentials = credentialsOf((header) => c.req.header(header))
          const found = guard.authenticate(name, credentials)
          const caller = found instanceof Promise ? await found : found
          if (name === 'api') c.set('user', caller as AuthenticatedUser<User>)
          else c.set('oauthClient', caller as AuthenticatedClient)
        } catch (error) {
          return toWebResponse(guard.refusal(error))
        }
        return next()
      },
    scopes: check(assertScopes),
    scope: check(assertAnyScope),
    freshToken: () => async (c, next) => {
      const fresh = await oauth.freshToken(fromWebRequest(c.req.raw))
      c.set('csrfToken', fresh.csrfToken)
      await next()
      if (fresh.setCookie) c.res.headers.append('set-cookie', fresh.setCookie)
    },
  }
}

function credentialsOf(header: (name: string) => string | undefined): Credentials {
  return {
    authorization: header('authorization'),
    cookie: header('cookie'),
    csrfToken: header('x-csrf-token'),
  }
}
