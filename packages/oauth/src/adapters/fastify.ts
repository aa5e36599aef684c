import { signedInReader } from '@tollgate/http'
import { mountFastify, sendFastify } from '@tollgate/http/fastify'
import { fromNodeRequest } from '@tollgate/http/node'
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
import type { AuthorizationServer } from '../server.ts'
import type { ApplicationUser } from '../users/users.ts'
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
export interface FastifyAdapter<User extends ApplicationUser = ApplicationUser> {
  /** Every route of the authorization server. `app.register(routes)` */
  readonly routes: FastifyPluginCallback
  /** Lets in only callers with a valid token: `api` for users, `client` for clients themselves. */
  auth(guard?: GuardName): onRequestHookHandler
  /** All of these scopes; after `auth`. */
  scopes(...names: string[]): onRequestHookHandler
  /** At least one of these scopes; after `auth`. */
  scope(...names: string[]): onRequestHookHandler
  /** The user behind `auth('api')`: `request.user`, with the type of your own record. */
  user(request: Pick<FastifyRequest, 'user'>): AuthenticatedUser<User>
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
export function forFastify<User extends ApplicationUser>(
  oauth: AuthorizationServer<User>,
  options: AdapterOptions<FastifyRequest> = {},
): FastifyAdapter<User> {
  const guard = guardOf(oauth, options)
  const check =
    (assert: (caller: Caller, names: readonly string[]) => void) =>
    (...names: string[]): onRequestHookHandler =>
    (request, response, done) => {
      const caller = request.user ?? request.oauthClient
      if (!caller) throw new Error("scopes() and scope() go after auth('api') or auth('client')")
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
            else request.oauthClient = caller as AuthenticatedClient
            done()
          },
          (error) => sendFastify(guard.refusal(error), response),
        )
      },
    scopes: check(assertScopes),
    scope: check(assertAnyScope),
    user: (request) => requireUser(request.user as AuthenticatedUser<User> | undefined),
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
