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
import { crossOriginRequest, requireCrossOrigin } from './cross-origin.ts'
import { type AdapterOptions, guardOf } from './options.ts'
import { requireCaller, type ScopeChecks, scopeChecks } from './scope-checks.ts'

export type { AdapterOptions } from './options.ts'
export type { ScopeChecks } from './scope-checks.ts'

/** Variables that the guards set in Hono's context. */
export interface TollgateVariables<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /** The authenticated user. Set by `auth('api')`. */
  user: AuthenticatedUser<User, Claims>
  /** The authenticated client. Set by `auth('client')`. */
  oauthClient: AuthenticatedClient<Claims>
  /** CSRF token for the page. Set by `freshToken()`. */
  csrfToken: string | null
}

/** Result of a middleware: an error response, or nothing if the next handler has responded. */
type MiddlewareResult = ReturnType<MiddlewareHandler>
/** Environment of a guarded route. */
export type Guarded<User extends ApplicationUser, Claims extends object = AddedClaims> = {
  /** Variables that the guards set. */
  Variables: TollgateVariables<User, Claims>
}
/** A guard as Hono middleware. */
export type Middleware<
  User extends ApplicationUser,
  Claims extends object = AddedClaims,
> = MiddlewareHandler<Guarded<User, Claims>>

/** The part of the context through which a handler reads the caller. */
export type CallerContext<User extends ApplicationUser, Claims extends object = AddedClaims> = Pick<
  Context<Guarded<User, Claims>>,
  'get' | 'set' | 'var'
>

/**
 * A handler whose `c` has the types of the route: path, variables, bindings and validated input.
 * TypeScript infers these from the surrounding call only as one type parameter `C`, and only
 * through a type that it cannot resolve earlier, hence the conditional type. Inferring `Result` at
 * the same time would prevent that, hence `NoInfer` below.
 */
export type GuardedHandler<User extends ApplicationUser, Claims extends object, C, Result> = [
  C,
] extends [Context]
  ? (c: CallerContext<User, Claims> & C, next: Next) => Result
  : never

/**
 * A handler that fits any route. The first overload is for TypeScript before 5.9, which infers a
 * `C` that fits none.
 */
export interface JoinedHandler<C, Result> {
  (c: Context, next: Next): Result
  (c: C, next: Next): Result
}

/** Middleware for Hono. Created by `forHono()`. */
export interface HonoAdapter<User extends ApplicationUser, Claims extends object = AddedClaims>
  extends ScopeChecks<Middleware<User, Claims>> {
  /**
   * Serves every route of the authorization server and passes on all other requests. Mount it with
   * `app.use(routes)`.
   */
  readonly routes: MiddlewareHandler
  /**
   * Accepts only callers with a valid token: users for `api`, clients that act for themselves for
   * `client`. Sets `user` or `oauthClient` in the context; other callers get 401.
   * @default 'api'
   * @example
   * ```ts
   * app.get('/reports', auth('client'), (c) => c.json({ client: c.get('oauthClient').clientId }))
   * ```
   */
  auth(guard?: GuardName): Middleware<User, Claims>
  /**
   * Combines the guard and the handler into one. Faster than a separate middleware, because it
   * avoids the promises between the two.
   * @example
   * ```ts
   * app.get('/me', auth('api', (c) => c.json({ id: c.get('user').id })))
   * ```
   */
  auth<C extends Context, Result extends HandlerResponse<unknown>>(
    guard: GuardName,
    handler: GuardedHandler<User, Claims, C, Result>,
  ): JoinedHandler<C, NoInfer<Result>>
  /**
   * Allows pages of registered clients to call from other origins. Needs the feature `cors()`.
   * Mount it before the guards, because browsers send preflight requests without a token:
   * `app.use('/api/*', cors())`.
   */
  cors(): MiddlewareHandler
  /**
   * Enables cookie mode on your pages. Put `c.get('csrfToken')` into the page.
   * @example
   * ```ts
   * app.get('/', freshToken(), (c) => c.html(renderPage({ csrfToken: c.get('csrfToken') })))
   * ```
   */
  freshToken(): Middleware<User, Claims>
}

/**
 * Creates the server's routes and guards for Hono 4.
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
  const guard = guardOf(oauth, options)

  const checks = scopeChecks<Middleware<User, Claims>>(guard, (assert) => (c, next) => {
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
      (name: GuardName = 'api', handler?: Handler<Guarded<User, Claims>>) =>
      (c: Context<Guarded<User, Claims>>, next: Next) =>
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
        const asked = crossOriginRequest(c.req.method, (name) => c.req.header(name))
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
 * Reads headers only when the guard needs them. With an Authorization header it never reads the
 * cookie.
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
