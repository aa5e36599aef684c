import { createSignedInReader, splitRequestTarget } from '@tollgate/http'
import { mountExpress } from '@tollgate/http/express'
import { fromNodeRequest, sendResponse } from '@tollgate/http/node'
import type { Request, RequestHandler } from 'express'
import { resolveAwaitable } from '../awaitable.ts'
import type { AuthenticatedClient, AuthenticatedUser, GuardName } from '../guard/guard.ts'
import { requireUser } from '../guard/require-user.ts'
import type { AuthorizationServer } from '../server.ts'
import type { AddedClaims } from '../tokens/formats/claims-hook.ts'
import type { ApplicationUser } from '../users/users.ts'
import { readCrossOriginRequest, requireCrossOrigin } from './cross-origin.ts'
import { readNodeCredentials } from './node.ts'
import { type AdapterOptions, createAdapterGuard } from './options.ts'
import { createScopeChecks, requireCaller, type ScopeChecks } from './scope-checks.ts'

export type { AdapterOptions } from './options.ts'
export type { ScopeChecks } from './scope-checks.ts'

declare global {
  namespace Express {
    interface User extends AuthenticatedUser {}
    interface Request {
      /** The authenticated user. Set by `auth('api')`. */
      user?: User | undefined
      /** The authenticated client. Set by `auth('client')`. */
      oauthClient?: AuthenticatedClient | undefined
    }
  }
}

/** Middleware for Express. Created by `forExpress()`. */
export interface ExpressAdapter<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> extends ScopeChecks<RequestHandler> {
  /**
   * Serves every route of the authorization server and passes on all other requests. Mount it with
   * `app.use(routes)`.
   */
  readonly routes: RequestHandler
  /**
   * Accepts only callers with a valid token. The guard `api` accepts users, the guard `client`
   * accepts clients that act for themselves. Sets `request.user` or `request.oauthClient`. Other
   * callers get 401.
   * @default 'api'
   * @example
   * ```ts
   * app.get('/reports', auth('client'), (request, response) => {
   *   response.json({ client: request.oauthClient?.clientId })
   * })
   * ```
   */
  auth(guard?: GuardName): RequestHandler
  /**
   * Returns `request.user` with the type of your own user record. Use it after `auth('api')`.
   * @throws Error if the route has no guard
   */
  user(request: Request): AuthenticatedUser<User, Claims>
  /**
   * Allows pages of registered clients to call your routes from other origins (CORS). Needs the
   * feature `cors()`. Mount it before the guards, because browsers send preflight requests without
   * a token: `app.use('/api', cors())`.
   */
  cors(): RequestHandler
  /**
   * Enables cookie mode on a page: your own pages may then call the API with a cookie and a CSRF
   * token instead of an access token. Put `response.locals.csrfToken` into the page.
   * @example
   * ```ts
   * app.get('/', freshToken(), (request, response) => {
   *   response.send(renderPage({ csrfToken: response.locals.csrfToken }))
   * })
   * ```
   */
  freshToken(): RequestHandler
}

/**
 * Creates the routes of the authorization server, and the guards for your own routes, for Express
 * 5.
 * @example
 * ```ts
 * const { routes, auth, scopes, user } = forExpress(oauth, {
 *   signedIn: ({ session }) => (session.userId ? { id: session.userId, sessionId: session.id } : null),
 * })
 * app.use(routes)
 * app.get('/orders', auth('api'), scopes('place-orders'), (request, response) => {
 *   response.json(listOrders(user(request).id))
 * })
 * ```
 */
export function forExpress<User extends ApplicationUser, Claims extends object>(
  oauth: AuthorizationServer<User, Claims>,
  options: AdapterOptions<Request> = {},
): ExpressAdapter<User, Claims> {
  const guard = createAdapterGuard(oauth, options)

  const checks = createScopeChecks<RequestHandler>(guard, (assert) => (request, response, next) => {
    const caller = requireCaller(request.user ?? request.oauthClient)
    return resolveAwaitable(
      () => assert(caller),
      () => next(),
      (error) => sendResponse(guard.refusal(error), response),
    )
  })

  return {
    routes: mountExpress(oauth, options),
    auth:
      (name = 'api') =>
      (request, response, next) => {
        return resolveAwaitable(
          () => guard.authenticate(name, readNodeCredentials(request)),
          (caller) => {
            if (name === 'api') request.user = caller as AuthenticatedUser
            else request.oauthClient = caller as AuthenticatedClient<Claims>
            next()
          },
          (error) => sendResponse(guard.refusal(error), response),
        )
      },
    ...checks,
    user: ({ user }) => requireUser(user as AuthenticatedUser<User, Claims> | undefined),
    cors() {
      const crossOrigin = requireCrossOrigin(oauth)
      return (request, response, next) => {
        if (oauth.handles(splitRequestTarget(request.originalUrl).path)) return next()
        const asked = readCrossOriginRequest(request.method, (name) => request.get(name))
        return resolveAwaitable(
          () => crossOrigin.decide(asked),
          ({ headers, preflight }) => {
            if (preflight) return sendResponse(preflight, response)
            const { vary, ...others } = headers
            if (vary) response.vary(vary)
            response.set(others)
            next()
          },
          next,
        )
      }
    },
    freshToken: () => async (request, response, next) => {
      const signedIn = createSignedInReader(options, request)
      const fresh = await oauth.freshToken(fromNodeRequest(request, signedIn))
      response.locals.csrfToken = fresh.csrfToken
      if (fresh.setCookie) response.append('set-cookie', fresh.setCookie)
      next()
    },
  }
}
