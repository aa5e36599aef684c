import type { IncomingMessage } from 'node:http'
import type { Context, MiddlewareHandler } from 'hono'
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
import { nodeCredentials } from './node.ts'

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
    async routes(c, next) {
      if (!oauth.handles(c.req.path)) return next()
      const request = fromWebRequest(c.req.raw)
      // A middleware that has read the body left it with Hono.
      const readable = c.req.raw.bodyUsed ? { ...request, text: () => c.req.text() } : request
      return toWebResponse(await oauth.handle(readable))
    },
    auth:
      (name = 'api') =>
      async (c, next) => {
        try {
          const found = guard.authenticate(name, credentialsOf(c))
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
      // Not on c.res itself: the headers of a redirect or of a fetched Response are immutable.
      if (fresh.setCookie) c.header('set-cookie', fresh.setCookie, { append: true })
    },
  }
}

/** On Node the message itself is at hand, which saves building a Headers object from it. */
function credentialsOf(c: Context): Credentials {
  const message = (c.env as { incoming?: IncomingMessage } | undefined)?.incoming
  if (message?.rawHeaders && isUntouched(c.req.raw, message)) return nodeCredentials(message)
  return {
    authorization: c.req.header('authorization'),
    cookie: c.req.header('cookie'),
    csrfToken: c.req.header('x-csrf-token'),
  }
}

/**
 * Whether the Request says what the message says: it was made from it, and nobody has asked for its
 * headers, so that no middleware can have changed them. A Request made inside the application, or put
 * in place of the first one, speaks for itself though it comes with the same `env`.
 */
function isUntouched(request: Request, message: IncomingMessage): boolean {
  const held = Object.getOwnPropertySymbols(request).map((key) => Reflect.get(request, key))
  return held.includes(message) && !held.some((value) => value instanceof Headers)
}
