import { signedInReader, splitTarget } from '@tollgate/http'
import { mountFastify, sendFastify } from '@tollgate/http/fastify'
import { fromNodeRequest, readHeader } from '@tollgate/http/node'
import type { FastifyPluginCallback, FastifyRequest, onRequestHookHandler } from 'fastify'
import { resolveAwaitable } from '../awaitable.ts'
import {
  type AuthenticatedClient,
  type AuthenticatedUser,
  assertAnyScope,
  assertScopes,
  type Caller,
  type GuardName,
} from '../guard/guard.ts'
import { requireUser } from '../guard/require-user.ts'
import type { StepUpDemand } from '../guard/step-up.ts'
import type { AuthorizationServer } from '../server.ts'
import type { AddedClaims } from '../tokens/formats/claims-hook.ts'
import type { ApplicationUser } from '../users/users.ts'
import { crossOriginRequest, noCrossOrigin } from './cross-origin.ts'
import { nodeCredentials } from './node.ts'
import { type AdapterOptions, guardOf } from './options.ts'

export type { AdapterOptions } from './options.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `auth('api')`. */
    user?: AuthenticatedUser
    /** Set by `auth('client')`. */
    oauthClient?: AuthenticatedClient
    /** Set by `freshToken()`, for the page. */
    csrfToken?: string | null
  }
}

/** What Fastify gets. */
export interface FastifyAdapter<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /** Every route of the authorization server. `app.register(routes)` */
  readonly routes: FastifyPluginCallback
  /** Lets in only callers with a valid token: `api` for users, `client` for clients themselves. */
  auth(guard?: GuardName): onRequestHookHandler
  /** All of these scopes; after `auth`. */
  scopes(...names: string[]): onRequestHookHandler
  /** At least one of these scopes; after `auth`. */
  scope(...names: string[]): onRequestHookHandler
  /** A sign-in that is recent or good enough (RFC 9470); after `auth`. Needs `stepUp()` in features. */
  stepUp(demand: StepUpDemand): onRequestHookHandler
  /** The user behind `auth('api')`: `request.user`, with the type of your own record. */
  user(request: Pick<FastifyRequest, 'user'>): AuthenticatedUser<User, Claims>
  /**
   * Lets pages of registered clients call from other origins; needs `cors()` in `features`. Goes before the guards,
   * because a browser asks without a token first. `app.register(cors)`, beside your routes
   */
  readonly cors: FastifyPluginCallback
  /** Cookie mode for your pages; `request.csrfToken` goes into the page. */
  freshToken(): onRequestHookHandler
}

/**
 * The server's routes and guards for Fastify 5.
 * @example
 * const { routes, auth, scopes, user } = forFastify(oauth)
 * app.register(routes)
 * app.get('/orders', { onRequest: [auth('api'), scopes('place-orders')] }, (request) =>
 *   listOrders(user(request).id),
 * )
 */
export function forFastify<User extends ApplicationUser, Claims extends object>(
  oauth: AuthorizationServer<User, Claims>,
  options: AdapterOptions<FastifyRequest> = {},
): FastifyAdapter<User, Claims> {
  const guard = guardOf(oauth, options)
  const check =
    (assert: (caller: Caller, names: readonly string[]) => void) =>
    (...names: string[]): onRequestHookHandler =>
    (request, response, done) => {
      const caller = request.user ?? request.oauthClient
      if (!caller)
        throw new Error("scopes(), scope() and stepUp() go after auth('api') or auth('client')")
      resolveAwaitable(
        () => assert(caller, names),
        () => done(),
        (error) => sendFastify(guard.refusal(error), response),
      )
    }

  return {
    routes: mountFastify(oauth, options),
    auth:
      (name = 'api') =>
      (request, response, done) => {
        resolveAwaitable(
          () => guard.authenticate(name, nodeCredentials(request.raw)),
          (caller) => {
            if (name === 'api') request.user = caller as AuthenticatedUser
            else request.oauthClient = caller as AuthenticatedClient<Claims>
            done()
          },
          (error) => sendFastify(guard.refusal(error), response),
        )
      },
    scopes: check(assertScopes),
    scope: check(assertAnyScope),
    stepUp: (demand) => check(guard.stepUp(demand))(),
    user: (request) => requireUser(request.user as AuthenticatedUser<User, Claims> | undefined),
    cors: corsPlugin(oauth),
    freshToken: () => (request, response, done) => {
      const plain = fromNodeRequest(request.raw, signedInReader(options, request))
      oauth.freshToken(plain).then((fresh) => {
        request.csrfToken = fresh.csrfToken
        if (fresh.setCookie) response.header('set-cookie', fresh.setCookie)
        done()
      }, done)
    },
  }
}

/** For the routes beside it too, hence the mark that Fastify looks for: a plugin of its own would reach none. */
function corsPlugin(
  oauth: Pick<AuthorizationServer, 'crossOrigin' | 'handles'>,
): FastifyPluginCallback {
  const plugin: FastifyPluginCallback = (instance, _options, done) => {
    const { crossOrigin } = oauth
    if (!crossOrigin) {
      done(noCrossOrigin())
      return
    }
    instance.addHook('onRequest', (request, response, next) => {
      if (oauth.handles(splitTarget(request.raw.url ?? '/').path)) {
        next()
        return
      }
      const asked = crossOriginRequest(request.method, (name) => readHeader(request.raw, name))
      resolveAwaitable(
        () => crossOrigin.ask(asked),
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
    // For hooks there has to be a route.
    if (!instance.hasRoute({ method: 'OPTIONS', url: '*' })) {
      instance.options('*', (_request, response) => response.callNotFound())
    }
    done()
  }
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
