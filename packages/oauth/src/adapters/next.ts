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
import type { AuthorizationServer } from '../server.ts'
import type { AddedClaims } from '../tokens/formats/claims-hook.ts'
import type { ApplicationUser } from '../users/users.ts'
import { crossOriginRequest, requireCrossOrigin } from './cross-origin.ts'
import { guardOf } from './options.ts'

/** A handler of Next's App Router. */
export type RouteHandler<Context = unknown, Req extends Request = Request> = (
  request: Req,
  context: Context,
) => Response | Promise<Response>

/** What Next gives a route; a handler that says nothing of `params` does without. */
export type NextContext<Params> = unknown extends Params ? unknown : { readonly params: Params }

/** What a guarded handler gets: the caller, and Next's own `params`. */
export interface GuardedContext<Result, Params = unknown> {
  /** Who calls. */
  readonly user: Result
  /** The route's parameters, as Next gives them. */
  readonly params: Params
}

/** What the handler of a page gets: the token for its requests, and Next's own `params`. */
export interface PageContext<Params = unknown> {
  /** For the page's `<meta name="csrf-token">`; null when nobody is signed in. */
  readonly csrfToken: string | null
  /** The page's parameters, as Next gives them. */
  readonly params: Params
}

/** Asks whether a token may do something. */
export type ScopeCheck = (caller: Caller, guard: Pick<Guard, 'stepUp'>) => void

/** What Next gets. */
export interface NextAdapter<User extends ApplicationUser, Claims extends object = AddedClaims> {
  /** `export const { GET, POST, PUT, PATCH, DELETE } = handlers` in app/oauth/[...path]/route.ts */
  readonly handlers: NextHandlers
  /** Wraps a route handler: only callers with a valid token, and the scopes, get in. */
  auth<Name extends GuardName, Params = unknown, Req extends Request = Request>(
    guard: Name,
    ...rest: [
      ...checks: ScopeCheck[],
      handler: RouteHandler<GuardedContext<GuardResults<User, Claims>[Name], Params>, Req>,
    ]
  ): RouteHandler<NextContext<Params>, Req>
  /** All of these scopes. */
  scopes(...names: string[]): ScopeCheck
  /** At least one of these scopes. */
  scope(...names: string[]): ScopeCheck
  /**
   * Lets pages of registered clients call from other origins; needs `cors()` in `features`. Goes before the guards,
   * because a browser asks without a token first. `export const GET = cors(auth('api', …))`, and `export const OPTIONS = cors()`
   */
  cors<Context = unknown, Req extends Request = Request>(
    handler?: RouteHandler<Context, Req>,
  ): RouteHandler<Context, Req>
  /** A sign-in that is recent or good enough (RFC 9470). Needs `stepUp()` in features. */
  stepUp(demand: StepUpDemand): ScopeCheck
  /** Cookie mode: wraps a route handler that gives a page; `csrfToken` goes into it. */
  freshToken<Params = unknown, Req extends Request = Request>(
    handler: RouteHandler<PageContext<Params>, Req>,
  ): RouteHandler<NextContext<Params>, Req>
}

/** The server, or a function that gives it. */
export type ServerSource<User extends ApplicationUser, Claims extends object = AddedClaims> =
  | AuthorizationServer<User, Claims>
  | (() => AuthorizationServer<User, Claims> | Promise<AuthorizationServer<User, Claims>>)

/** What the adapter for Next can be told. */
export interface NextAdapterOptions {
  /** The API that the guards protect, by its address in `resources`. Default: that of the server itself. */
  readonly resource?: string
}

/**
 * Next loads every route file when it builds. Give a function to connect to a database only when the
 * first request comes; it is called for each request and should give the same server every time.
 * @example
 * const { auth, scopes } = forNext(oauth)
 * export const GET = auth('api', scopes('place-orders'), (request, { user }) => Response.json(user.id))
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
        const guard = guardOf(await server(), options)
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
        const asked = crossOriginRequest(request.method, (name) => request.headers.get(name))
        const { headers, preflight } = await crossOrigin.ask(asked)
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

/** On a copy: those of a redirect or of a fetched Response are immutable. */
function withHeaders(response: Response, added: Readonly<Record<string, string>>): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(added)) {
    if (name === 'vary') headers.append(name, value)
    else headers.set(name, value)
  }
  return new Response(response.body, { status: response.status, headers })
}
