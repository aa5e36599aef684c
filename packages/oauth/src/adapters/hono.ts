import { toWebResponse } from '@tollgate/http'
import { fromHonoContext, mountHono } from '@tollgate/http/hono'
import type { Context, Handler, HonoRequest, MiddlewareHandler, Next } from 'hono'
import type { HandlerResponse } from 'hono/types'
import { resolveAwaitable } from '../awaitable.ts'
import type {
  AuthenticatedClient,
  AuthenticatedUser,
  Caller,
  GuardCredentials,
  GuardName,
} from '../guard/guard.ts'
import type { AuthorizationServer } from '../server.ts'
import type { AddedClaims } from '../tokens/formats/claims-hook.ts'
import type { ApplicationUser } from '../users/users.ts'
import { readCrossOriginRequest, requireCrossOrigin } from './cross-origin.ts'
import { type AdapterOptions, createAdapterGuard } from './options.ts'
import { createScopeChecks, requireCaller, type ScopeChecks } from './scope-checks.ts'

export type { AdapterOptions } from './options.ts'
export type { ScopeChecks } from './scope-checks.ts'

/** Variables that the guards set in Hono's context. */
export interface HonoGuardVariables<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /** The authenticated user. Set by `auth('api')`. */
  user: AuthenticatedUser<User, Claims>
  /** The authenticated client. Set by `auth('client')`. */
  oauthClient: AuthenticatedClient<Claims>
  /** CSRF token for the page. `null` if no user is signed in. Set by `freshToken()`. */
  csrfToken: string | null
}

/** Result of a middleware: an error response, or nothing if the next handler has responded. */
type MiddlewareResult = ReturnType<MiddlewareHandler>
/** Hono environment type of a guarded route. */
export type GuardedEnv<User extends ApplicationUser, Claims extends object = AddedClaims> = {
  /** Variables that the guards set. */
  Variables: HonoGuardVariables<User, Claims>
}
/** A guard as Hono middleware. */
export type GuardMiddleware<
  User extends ApplicationUser,
  Claims extends object = AddedClaims,
> = MiddlewareHandler<GuardedEnv<User, Claims>>

/** The members of Hono's context through which a handler reads the authenticated caller. */
export type CallerContext<User extends ApplicationUser, Claims extends object = AddedClaims> = Pick<
  Context<GuardedEnv<User, Claims>>,
  'get' | 'set' | 'var'
>

/**
 * A Hono handler for a guarded route. Its context `c` has the types of the route (path, variables,
 * bindings, validated input) and those of the caller. It is a conditional type because TypeScript
 * otherwise does not infer `C` from the surrounding call.
 */
export type GuardedHandler<User extends ApplicationUser, Claims extends object, C, Result> = [
  C,
] extends [Context]
  ? (c: CallerContext<User, Claims> & C, next: Next) => Result
  : never

/**
 * A guard and a handler combined into one Hono handler, which can be used on any route. The first
 * overload is for TypeScript before 5.9, which infers a wrong type for `C`.
 */
export interface CombinedGuardHandler<C, Result> {
  (c: Context, next: Next): Result
  (c: C, next: Next): Result
}

/** Middleware for Hono. Created by `forHono()`. */
export interface HonoAdapter<User extends ApplicationUser, Claims extends object = AddedClaims>
  extends ScopeChecks<GuardMiddleware<User, Claims>> {
  /**
   * Serves every route of the authorization server and passes on all other requests. Mount it with
   * `app.use(routes)`.
   */
  readonly routes: MiddlewareHandler
  /**
   * Accepts only callers with a valid token. The guard `api` accepts users, the guard `client`
   * accepts clients that act for themselves. Sets `user` or `oauthClient` in the context. Other
   * callers get 401.
   * @default 'api'
   * @example
   * ```ts
   * app.get('/reports', auth('client'), (c) => c.json({ client: c.get('oauthClient').clientId }))
   * ```
   */
  auth(guard?: GuardName): GuardMiddleware<User, Claims>
  /**
   * Combines the guard and the handler into one Hono handler. Faster than a guard as separate
   * middleware, because fewer promises are created per request.
   * @example
   * ```ts
   * app.get('/me', auth('api', (c) => c.json({ id: c.get('user').id })))
   * ```
   */
  auth<C extends Context, Result extends HandlerResponse<unknown>>(
    guard: GuardName,
    handler: GuardedHandler<User, Claims, C, Result>,
  ): CombinedGuardHandler<C, NoInfer<Result>>
  /**
   * Allows pages of registered clients to call your routes from other origins (CORS). Needs the
   * feature `cors()`. Mount it before the guards, because browsers send preflight requests without
   * a token: `app.use('/api/*', cors())`.
   */
  cors(): MiddlewareHandler
  /**
   * Enables cookie mode on a page: your own pages may then call the API with a cookie and a CSRF
   * token instead of an access token. Put `c.get('csrfToken')` into the page.
   * @example
   * ```ts
   * app.get('/', freshToken(), (c) => c.html(renderPage({ csrfToken: c.get('csrfToken') })))
   * ```
   */
  freshToken(): GuardMiddleware<User, Claims>
}

/**
 * Creates the routes of the authorization server, and the guards for your own routes, for Hono 4.
 * @example
 * ```ts
 * const { routes, auth, scopes } = forHono(oauth)
 * app.use(routes)
 * app.get('/orders', auth('api'), scopes('place-orders'), (c) => c.json(listOrders(c.get('user').id)))
 * ```
 */
export function forHono<User extends ApplicationUser, Claims extends object>(
  oauth: AuthorizationServer<User, Claims>,
  options: AdapterOptions<Context> = {},
): HonoAdapter<User, Claims> {
  const guard = createAdapterGuard(oauth, options)

  const checks = createScopeChecks<GuardMiddleware<User, Claims>>(guard, (assert) => (c, next) => {
    const caller: Caller = requireCaller(c.get('user') ?? c.get('oauthClient'))
    return resolveAwaitable<void, MiddlewareResult>(
      () => assert(caller),
      () => next(),
      async (error) => toWebResponse(guard.refusal(error)),
    )
  })

  return {
    routes: mountHono(oauth, options),
    auth:
      (name: GuardName = 'api', handler?: Handler<GuardedEnv<User, Claims>>) =>
      (c: Context<GuardedEnv<User, Claims>>, next: Next) =>
        resolveAwaitable<Caller, MiddlewareResult>(
          () => guard.authenticate(name, new HonoCredentials(c.req)),
          (caller) => {
            if (name === 'api') c.set('user', caller as AuthenticatedUser<User, Claims>)
            else c.set('oauthClient', caller as AuthenticatedClient<Claims>)
            return handler ? handler(c, next) : next()
          },
          async (error) => toWebResponse(guard.refusal(error)),
        ),
    ...checks,
    cors() {
      const crossOrigin = requireCrossOrigin(oauth)
      return async (c, next) => {
        if (oauth.handles(c.req.path)) return next()
        const asked = readCrossOriginRequest(c.req.method, (name) => c.req.header(name))
        const { headers, preflight } = await crossOrigin.decide(asked)
        if (preflight) return toWebResponse(preflight)
        await next()
        for (const [name, value] of Object.entries(headers)) {
          c.header(name, value, { append: name === 'vary' })
        }
        return undefined
      }
    },
    freshToken: () => async (c, next) => {
      const fresh = await oauth.freshToken(fromHonoContext(c, options))
      c.set('csrfToken', fresh.csrfToken)
      await next()
      // `c.header()`, because the headers of `c.res` are immutable for redirects and fetched
      // responses.
      if (fresh.setCookie) c.header('set-cookie', fresh.setCookie, { append: true })
    },
  }
}

/**
 * The credentials of a Hono request. Reads a header only when the guard needs it: if there is an
 * Authorization header, the cookie is never read.
 */
class HonoCredentials implements GuardCredentials {
  readonly #request: HonoRequest

  constructor(request: HonoRequest) {
    this.#request = request
  }

  get authorization(): string | undefined {
    return this.#request.header('authorization')
  }

  get cookie(): string | undefined {
    return this.#request.header('cookie')
  }

  get csrfToken(): string | undefined {
    return this.#request.header('x-csrf-token')
  }

  get dpop(): string | undefined {
    return this.#request.header('dpop')
  }

  get method(): string {
    return this.#request.method
  }

  get path(): string {
    return new URL(this.#request.url).pathname
  }
}
