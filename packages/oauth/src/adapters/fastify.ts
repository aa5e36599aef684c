import { createSignedInReader, splitRequestTarget } from '@tollgate/http'
import { mountFastify, sendFastify } from '@tollgate/http/fastify'
import { fromNodeRequest, readHeader } from '@tollgate/http/node'
import type { FastifyPluginCallback, FastifyRequest, onRequestHookHandler } from 'fastify'
import { resolveAwaitable } from '../awaitable.ts'
import type { AuthenticatedClient, AuthenticatedUser, GuardName } from '../guard/guard.ts'
import { requireUser } from '../guard/require-user.ts'
import type { AuthorizationServer } from '../server.ts'
import type { AddedClaims } from '../tokens/formats/claims-hook.ts'
import type { ApplicationUser } from '../users/users.ts'
import { createMissingCorsFeatureError, readCrossOriginRequest } from './cross-origin.ts'
import { readNodeCredentials } from './node.ts'
import { type AdapterOptions, createAdapterGuard } from './options.ts'
import { createScopeChecks, requireCaller, type ScopeChecks } from './scope-checks.ts'

export type { AdapterOptions } from './options.ts'
export type { ScopeChecks } from './scope-checks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated user. Set by `auth('api')`. */
    user?: AuthenticatedUser
    /** The authenticated client. Set by `auth('client')`. */
    oauthClient?: AuthenticatedClient
    /** CSRF token for the page. Set by `freshToken()`. */
    csrfToken?: string | null
  }
}

/** Plugins and hooks for Fastify. Created by `forFastify()`. */
export interface FastifyAdapter<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> extends ScopeChecks<onRequestHookHandler> {
  /** Serves every route of the authorization server. Register it with `app.register(routes)`. */
  readonly routes: FastifyPluginCallback
  /**
   * Accepts only callers with a valid token. The guard `api` accepts users, the guard `client`
   * accepts clients that act for themselves. Sets `request.user` or `request.oauthClient`. Other
   * callers get 401.
   * @default 'api'
   * @example
   * ```ts
   * app.get('/reports', { onRequest: auth('client') }, (request) => ({
   *   client: request.oauthClient?.clientId,
   * }))
   * ```
   */
  auth(guard?: GuardName): onRequestHookHandler
  /**
   * Returns `request.user` with the type of your own user record. Use it after `auth('api')`.
   * @throws Error if the route has no guard
   */
  user(request: Pick<FastifyRequest, 'user'>): AuthenticatedUser<User, Claims>
  /**
   * Allows pages of registered clients to call your routes from other origins (CORS). Needs the
   * feature `cors()`. Register it next to your routes with `app.register(cors)`. It runs before the
   * guards, because browsers send preflight requests without a token.
   */
  readonly cors: FastifyPluginCallback
  /**
   * Enables cookie mode on a page: your own pages may then call the API with a cookie and a CSRF
   * token instead of an access token. Put `request.csrfToken` into the page.
   * @example
   * ```ts
   * app.get('/', { onRequest: freshToken() }, (request, reply) =>
   *   reply.type('text/html').send(renderPage({ csrfToken: request.csrfToken })),
   * )
   * ```
   */
  freshToken(): onRequestHookHandler
}

/**
 * Creates the routes of the authorization server, and the guards for your own routes, for Fastify
 * 5.
 * @example
 * ```ts
 * const { routes, auth, scopes, user } = forFastify(oauth)
 * app.register(routes)
 * app.get('/orders', { onRequest: [auth('api'), scopes('place-orders')] }, (request) =>
 *   listOrders(user(request).id),
 * )
 * ```
 */
export function forFastify<User extends ApplicationUser, Claims extends object>(
  oauth: AuthorizationServer<User, Claims>,
  options: AdapterOptions<FastifyRequest> = {},
): FastifyAdapter<User, Claims> {
  const guard = createAdapterGuard(oauth, options)
  const checks = createScopeChecks<onRequestHookHandler>(
    guard,
    (assert) => (request, response, done) => {
      const caller = requireCaller(request.user ?? request.oauthClient)
      resolveAwaitable(
        () => assert(caller),
        () => done(),
        (error) => sendFastify(guard.refusal(error), response),
      )
    },
  )

  return {
    routes: mountFastify(oauth, options),
    auth:
      (name = 'api') =>
      (request, response, done) => {
        resolveAwaitable(
          () => guard.authenticate(name, readNodeCredentials(request.raw)),
          (caller) => {
            if (name === 'api') request.user = caller as AuthenticatedUser
            else request.oauthClient = caller as AuthenticatedClient<Claims>
            done()
          },
          (error) => sendFastify(guard.refusal(error), response),
        )
      },
    ...checks,
    user: (request) => requireUser(request.user as AuthenticatedUser<User, Claims> | undefined),
    cors: corsPlugin(oauth),
    freshToken: () => (request, response, done) => {
      const plain = fromNodeRequest(request.raw, createSignedInReader(options, request))
      oauth.freshToken(plain).then((fresh) => {
        request.csrfToken = fresh.csrfToken
        if (fresh.setCookie) response.header('set-cookie', fresh.setCookie)
        done()
      }, done)
    },
  }
}

/**
 * Builds the plugin. `skip-override` makes its hooks apply to the routes next to it, not only to
 * routes inside the plugin.
 */
function corsPlugin(
  oauth: Pick<AuthorizationServer, 'crossOrigin' | 'handles'>,
): FastifyPluginCallback {
  const plugin: FastifyPluginCallback = (instance, _options, done) => {
    const { crossOrigin } = oauth
    if (!crossOrigin) {
      done(createMissingCorsFeatureError())
      return
    }
    instance.addHook('onRequest', (request, response, next) => {
      if (oauth.handles(splitRequestTarget(request.raw.url ?? '/').path)) {
        next()
        return
      }
      const asked = readCrossOriginRequest(request.method, (name) => readHeader(request.raw, name))
      resolveAwaitable(
        () => crossOrigin.decide(asked),
        ({ headers, preflight }) => {
          if (preflight) {
            sendFastify(preflight, response)
            return
          }
          response.headers(headers)
          next()
        },
        (error) => next(error as Error),
      )
    })
    // Fastify runs hooks only for requests that match a route.
    if (!instance.hasRoute({ method: 'OPTIONS', url: '*' })) {
      instance.options('*', (_request, response) => response.callNotFound())
    }
    done()
  }
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
