import { fromWebRequest, toWebResponse } from '@tollgate/http'
import { type NextHandlers, nextHandlers } from '@tollgate/http/next'
import {
  assertAnyScope,
  assertScopes,
  type Caller,
  type Guard,
  type GuardName,
  type GuardResults,
} from '../guard/guard.ts'
import type { StepUpDemand } from '../guard/step-up.ts'
import type { AuthorizationServer, GuardTarget } from '../server.ts'
import type { AddedClaims } from '../tokens/formats/claims-hook.ts'
import type { ApplicationUser } from '../users/users.ts'
import { readCrossOriginRequest, requireCrossOrigin } from './cross-origin.ts'
import { createAdapterGuard } from './options.ts'

/** A route handler of Next's App Router. */
export type RouteHandler<Context = unknown, Req extends Request = Request> = (
  request: Req,
  context: Context,
) => Response | Promise<Response>

/** The context that Next passes to a route. `unknown` for handlers that do not declare `params`. */
export type NextContext<Params> = unknown extends Params ? unknown : { readonly params: Params }

/** The context of a guarded handler: the caller and Next's `params`. */
export interface GuardedContext<Result, Params = unknown> {
  /** The authenticated caller: a user for `api`, a client for `client`. */
  readonly user: Result
  /** The route's parameters from Next. */
  readonly params: Params
}

/** The context of a page handler in cookie mode: the CSRF token and Next's `params`. */
export interface PageContext<Params = unknown> {
  /** CSRF token for the page's `<meta name="csrf-token">`. `null` if no user is signed in. */
  readonly csrfToken: string | null
  /** The page's parameters from Next. */
  readonly params: Params
}

/** A check of the authenticated caller, such as for a scope. Throws if the check fails. */
export type ScopeCheck = (caller: Caller, guard: Pick<Guard, 'stepUp'>) => void

/** Route handlers for Next. Created by `forNext()`. */
export interface NextAdapter<User extends ApplicationUser, Claims extends object = AddedClaims> {
  /**
   * Handlers for the routes of the authorization server.
   * @example
   * ```ts
   * // app/oauth/[...path]/route.ts
   * export const { GET, POST, PUT, PATCH, DELETE } = handlers
   * ```
   */
  readonly handlers: NextHandlers
  /**
   * Wraps a route handler, so that only callers with a valid token that pass all checks reach it.
   * Other callers get 401 or 403, or the response of `oauth.limitScopes()`.
   * @example
   * ```ts
   * export const GET = auth('api', scopes('place-orders'), (request, { user }) =>
   *   Response.json(listOrders(user.id)),
   * )
   * ```
   */
  auth<Name extends GuardName, Params = unknown, Req extends Request = Request>(
    guard: Name,
    ...rest: [
      ...checks: ScopeCheck[],
      handler: RouteHandler<GuardedContext<GuardResults<User, Claims>[Name], Params>, Req>,
    ]
  ): RouteHandler<NextContext<Params>, Req>
  /** Creates a check that the token has all of these scopes. Pass it to `auth()`. */
  scopes(...names: string[]): ScopeCheck
  /** Creates a check that the token has at least one of these scopes. Pass it to `auth()`. */
  scope(...names: string[]): ScopeCheck
  /**
   * Allows pages of registered clients to call your routes from other origins (CORS). Needs the
   * feature `cors()`. Wrap it around the guard, because browsers send preflight requests without a
   * token.
   * @example
   * ```ts
   * export const GET = cors(auth('api', (request, { user }) => Response.json(user.id)))
   * export const OPTIONS = cors()
   * ```
   */
  cors<Context = unknown, Req extends Request = Request>(
    handler?: RouteHandler<Context, Req>,
  ): RouteHandler<Context, Req>
  /**
   * Creates a check that the sign-in behind the token is recent or strong enough (RFC 9470). Pass
   * it to `auth()`. Needs the feature `stepUp()`.
   */
  stepUp(demand: StepUpDemand): ScopeCheck
  /**
   * Enables cookie mode on a page by wrapping its route handler: your own pages may then call the
   * API with a cookie and a CSRF token instead of an access token. Put `csrfToken` into the page.
   * @example
   * ```ts
   * export const GET = freshToken((request, { csrfToken }) => renderPage({ csrfToken }))
   * ```
   */
  freshToken<Params = unknown, Req extends Request = Request>(
    handler: RouteHandler<PageContext<Params>, Req>,
  ): RouteHandler<NextContext<Params>, Req>
}

/** The authorization server, or a function that returns it. */
export type ServerSource<User extends ApplicationUser, Claims extends object = AddedClaims> =
  | AuthorizationServer<User, Claims>
  | (() => AuthorizationServer<User, Claims> | Promise<AuthorizationServer<User, Claims>>)

/** Options of `forNext()`. */
export type NextAdapterOptions = GuardTarget

/**
 * Creates the route handlers of the authorization server, and the guards for your own routes, for
 * Next's App Router.
 *
 * Next loads every route file at build time. To connect to the database on the first request
 * instead, pass a function as `source`. It is called for every request and must return the same
 * server each time.
 * @example
 * ```ts
 * const { auth, scopes } = forNext(oauth)
 * export const GET = auth('api', scopes('place-orders'), (request, { user }) => Response.json(user.id))
 * ```
 */
export function forNext<User extends ApplicationUser, Claims extends object>(
  source: ServerSource<User, Claims>,
  options: NextAdapterOptions = {},
): NextAdapter<User, Claims> {
  const server = async () => (typeof source === 'function' ? source() : source)
  return {
    handlers: nextHandlers(source),
    auth(name, ...rest) {
      const handler = rest.at(-1) as RouteHandler<GuardedContext<unknown>>
      const checks = rest.slice(0, -1) as ScopeCheck[]
      return async (request, context) => {
        const guard = createAdapterGuard(await server(), options)
        let user: Caller
        try {
          user = await guard.authenticate(name, {
            authorization: request.headers.get('authorization'),
            cookie: request.headers.get('cookie'),
            csrfToken: request.headers.get('x-csrf-token'),
            dpop: request.headers.get('dpop'),
            method: request.method,
            path: new URL(request.url).pathname,
          })
          for (const check of checks) check(user, guard)
        } catch (error) {
          return toWebResponse(guard.refusal(error))
        }
        return handler(request, { ...(context as { params: unknown }), user })
      }
    },
    scopes:
      (...names) =>
      (caller) =>
        assertScopes(caller, names),
    scope:
      (...names) =>
      (caller) =>
        assertAnyScope(caller, names),
    cors:
      <Context, Req extends Request>(handler?: RouteHandler<Context, Req>) =>
      async (request: Req, context: Context) => {
        const crossOrigin = requireCrossOrigin(await server())
        const asked = readCrossOriginRequest(request.method, (name) => request.headers.get(name))
        const { headers, preflight } = await crossOrigin.decide(asked)
        if (preflight) return toWebResponse(preflight)
        const response = handler
          ? await handler(request, context)
          : new Response(null, { status: 204 })
        return withHeaders(response, headers)
      },
    stepUp: (demand) => (caller, guard) => guard.stepUp(demand)(caller),
    freshToken:
      <Params, Req extends Request>(handler: RouteHandler<PageContext<Params>, Req>) =>
      async (request: Req, context: unknown) => {
        const oauth = await server()
        const { csrfToken, setCookie } = await oauth.freshToken(fromWebRequest(request))
        const response = await handler(request, { ...(context as { params: Params }), csrfToken })
        if (!setCookie) return response
        const headers = new Headers(response.headers)
        headers.append('set-cookie', setCookie)
        return new Response(response.body, { status: response.status, headers })
      },
  }
}

/** Copies the response, because the headers of redirects and fetched responses are immutable. */
function withHeaders(response: Response, added: Readonly<Record<string, string>>): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(added)) {
    if (name === 'vary') headers.append(name, value)
    else headers.set(name, value)
  }
  return new Response(response.body, { status: response.status, headers })
}
