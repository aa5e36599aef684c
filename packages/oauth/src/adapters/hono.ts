import { toWebResponse } from '@tollgate/http'
import { fromHonoContext, mountHono } from '@tollgate/http/hono'
import type { Context, Handler, HonoRequest, MiddlewareHandler, Next } from 'hono'
import type { HandlerResponse } from 'hono/types'
import { resolveAwaitable } from '../awaitable.ts'
import {
  type AuthenticatedClient,
  type AuthenticatedUser,
  assertAnyScope,
  assertScopes,
  type Caller,
  type GuardCredentials,
  type GuardName,
} from '../guard/guard.ts'
import type { StepUpDemand } from '../guard/step-up.ts'
import type { AuthorizationServer } from '../server.ts'
import type { AddedClaims } from '../tokens/formats/claims-hook.ts'
import type { ApplicationUser } from '../users/users.ts'
import { crossOriginRequest, requireCrossOrigin } from './cross-origin.ts'
import { type AdapterOptions, guardOf } from './options.ts'

export type { AdapterOptions } from './options.ts'

/** What the guards leave in Hono's context. */
export interface TollgateVariables<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /** Set by `auth('api')`. */
  user: AuthenticatedUser<User, Claims>
  /** Set by `auth('client')`. */
  oauthClient: AuthenticatedClient<Claims>
  /** Set by `freshToken()`, for the page. */
  csrfToken: string | null
}

/** A refusal, or nothing once the next one has responded. */
type Result = ReturnType<MiddlewareHandler>
/** The context of a guarded route. */
export type Guarded<User extends ApplicationUser, Claims extends object = AddedClaims> = {
  /** What the guards set. */
  Variables: TollgateVariables<User, Claims>
}
/** A guard, as Hono takes it. */
export type Middleware<
  User extends ApplicationUser,
  Claims extends object = AddedClaims,
> = MiddlewareHandler<Guarded<User, Claims>>

/** What the guard adds to the context of a route. */
export type CallerContext<User extends ApplicationUser, Claims extends object = AddedClaims> = Pick<
  Context<Guarded<User, Claims>>,
  'get' | 'set' | 'var'
>

/**
 * Its `c` has the types of the route: path, variables, bindings and valid input. From the call around it
 * TypeScript infers them only as one type `C`, and only through a type it cannot resolve before, hence
 * the condition; what it would infer for `Result` would stop it, hence `NoInfer` below.
 */
export type GuardedHandler<User extends ApplicationUser, Claims extends object, C, Result> = [
  C,
] extends [Context]
  ? (c: CallerContext<User, Claims> & C, next: Next) => Result
  : never

/** Fits any route: before 5.9, TypeScript infers a `C` that fits none. */
export interface JoinedHandler<C, Result> {
  (c: Context, next: Next): Result
  (c: C, next: Next): Result
}

/** What Hono gets. */
export interface HonoAdapter<User extends ApplicationUser, Claims extends object = AddedClaims> {
  /** Every route of the authorization server; other addresses pass on. `app.use(routes)` */
  readonly routes: MiddlewareHandler
  /** Lets in only callers with a valid token: `api` for users, `client` for clients themselves. */
  auth(guard?: GuardName): Middleware<User, Claims>
  /** The guard and the handler in one, for routes where the promises of a middleware would show. */
  auth<C extends Context, Result extends HandlerResponse<unknown>>(
    guard: GuardName,
    handler: GuardedHandler<User, Claims, C, Result>,
  ): JoinedHandler<C, NoInfer<Result>>
  /** All of these scopes; after `auth`. */
  scopes(...names: string[]): Middleware<User, Claims>
  /** At least one of these scopes; after `auth`. */
  scope(...names: string[]): Middleware<User, Claims>
  /**
   * Lets pages of registered clients call from other origins; needs `cors()` in `features`. Goes before the guards,
   * because a browser asks without a token first. `app.use('/api/*', cors())`
   */
  cors(): MiddlewareHandler
  /** A sign-in that is recent or good enough (RFC 9470); after `auth`. Needs `stepUp()` in features. */
  stepUp(demand: StepUpDemand): Middleware<User, Claims>
  /** Cookie mode for your pages; `c.get('csrfToken')` goes into the page. */
  freshToken(): Middleware<User, Claims>
}

/**
 * The server's routes and guards for Hono 4.
 * @example
 * const { routes, auth, scopes } = forHono(oauth)
 * app.use(routes)
 * app.get('/orders', auth('api'), scopes('place-orders'), (c) => c.json(listOrders(c.get('user').id)))
 */
export function forHono<User extends ApplicationUser, Claims extends object>(
  oauth: AuthorizationServer<User, Claims>,
  options: AdapterOptions<Context> = {},
): HonoAdapter<User, Claims> {
  const guard = guardOf(oauth, options)

  const check =
    (assert: (caller: Caller, names: readonly string[]) => void) =>
    (...names: string[]): Middleware<User, Claims> =>
    (c, next) => {
      const caller: Caller | undefined = c.get('user') ?? c.get('oauthClient')
      if (!caller)
        throw new Error("scopes(), scope() and stepUp() go after auth('api') or auth('client')")
      return resolveAwaitable<void, Result>(
        () => assert(caller, names),
        () => next(),
        async (error) => toWebResponse(guard.refusal(error)),
      )
    }

  return {
    routes: mountHono(oauth, options),
    auth:
      (name: GuardName = 'api', handler?: Handler<Guarded<User, Claims>>) =>
      (c: Context<Guarded<User, Claims>>, next: Next) =>
        resolveAwaitable<Caller, Result>(
          () => guard.authenticate(name, new HonoCredentials(c.req)),
          (caller) => {
            if (name === 'api') c.set('user', caller as AuthenticatedUser<User, Claims>)
            else c.set('oauthClient', caller as AuthenticatedClient<Claims>)
            return handler ? handler(c, next) : next()
          },
          async (error) => toWebResponse(guard.refusal(error)),
        ),
    scopes: check(assertScopes),
    scope: check(assertAnyScope),
    cors() {
      const crossOrigin = requireCrossOrigin(oauth)
      return async (c, next) => {
        if (oauth.handles(c.req.path)) return next()
        const asked = crossOriginRequest(c.req.method, (name) => c.req.header(name))
        const { headers, preflight } = await crossOrigin.ask(asked)
        if (preflight) return toWebResponse(preflight)
        await next()
        for (const [name, value] of Object.entries(headers)) {
          c.header(name, value, { append: name === 'vary' })
        }
        return undefined
      }
    },
    stepUp: (demand) => check(guard.stepUp(demand))(),
    freshToken: () => async (c, next) => {
      const fresh = await oauth.freshToken(fromHonoContext(c, options))
      c.set('csrfToken', fresh.csrfToken)
      await next()
      // Not on c.res itself: the headers of a redirect or of a fetched Response are immutable.
      if (fresh.setCookie) c.header('set-cookie', fresh.setCookie, { append: true })
    },
  }
}

/** Reads what it is asked for: with a token in the header, nobody asks for the cookie. */
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
