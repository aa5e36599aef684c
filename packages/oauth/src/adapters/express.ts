import { signedInReader, splitTarget } from '@tollgate/http'
import { mountExpress } from '@tollgate/http/express'
import { fromNodeRequest, sendResponse } from '@tollgate/http/node'
import type { Request, RequestHandler } from 'express'
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
import { crossOriginRequest, requireCrossOrigin } from './cross-origin.ts'
import { nodeCredentials } from './node.ts'
import { type AdapterOptions, guardOf } from './options.ts'

export type { AdapterOptions } from './options.ts'

declare global {
  namespace Express {
    interface User extends AuthenticatedUser {}
    interface Request {
      /** Set by `auth('api')`. */
      user?: User | undefined
      /** Set by `auth('client')`. */
      oauthClient?: AuthenticatedClient | undefined
    }
  }
}

/** What Express gets. */
export interface ExpressAdapter<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /** Every route of the authorization server; other addresses pass on. `app.use(routes)` */
  readonly routes: RequestHandler
  /** Lets in only callers with a valid token: `api` for users, `client` for clients themselves. */
  auth(guard?: GuardName): RequestHandler
  /** All of these scopes; after `auth`. */
  scopes(...names: string[]): RequestHandler
  /** At least one of these scopes; after `auth`. */
  scope(...names: string[]): RequestHandler
  /** A sign-in that is recent or good enough (RFC 9470); after `auth`. Needs `stepUp()` in features. */
  stepUp(demand: StepUpDemand): RequestHandler
  /** The user behind `auth('api')`: `request.user`, with the type of your own record. */
  user(request: Request): AuthenticatedUser<User, Claims>
  /**
   * Lets pages of registered clients call from other origins; needs `cors()` in `features`. Goes before the guards,
   * because a browser asks without a token first. `app.use('/api', cors())`
   */
  cors(): RequestHandler
  /** Cookie mode for your pages; `response.locals.csrfToken` goes into the page. */
  freshToken(): RequestHandler
}

/**
 * The server's routes and guards for Express 5.
 * @example
 * const { routes, auth, scopes, user } = forExpress(oauth, {
 *   signedIn: ({ session }) => (session.userId ? { id: session.userId, sessionId: session.id } : null),
 * })
 * app.use(routes)
 * app.get('/orders', auth('api'), scopes('place-orders'), (request, response) => {
 *   response.json(listOrders(user(request).id))
 * })
 */
export function forExpress<User extends ApplicationUser, Claims extends object>(
  oauth: AuthorizationServer<User, Claims>,
  options: AdapterOptions<Request> = {},
): ExpressAdapter<User, Claims> {
  const guard = guardOf(oauth, options)

  const check =
    (assert: (caller: Caller, names: readonly string[]) => void) =>
    (...names: string[]): RequestHandler =>
    (request, response, next) => {
      const caller = request.user ?? request.oauthClient
      if (!caller)
        throw new Error("scopes(), scope() and stepUp() go after auth('api') or auth('client')")
      return resolveAwaitable(
        () => assert(caller, names),
        () => next(),
        (error) => sendResponse(guard.refusal(error), response),
      )
    }

  return {
    routes: mountExpress(oauth, options),
    auth:
      (name = 'api') =>
      (request, response, next) => {
        return resolveAwaitable(
          () => guard.authenticate(name, nodeCredentials(request)),
          (caller) => {
            if (name === 'api') request.user = caller as AuthenticatedUser
            else request.oauthClient = caller as AuthenticatedClient<Claims>
            next()
          },
          (error) => sendResponse(guard.refusal(error), response),
        )
      },
    scopes: check(assertScopes),
    scope: check(assertAnyScope),
    stepUp: (demand) => check(guard.stepUp(demand))(),
    user: ({ user }) => requireUser(user as AuthenticatedUser<User, Claims> | undefined),
    cors() {
      const crossOrigin = requireCrossOrigin(oauth)
      return (request, response, next) => {
        if (oauth.handles(splitTarget(request.originalUrl).path)) return next()
        const asked = crossOriginRequest(request.method, (name) => request.get(name))
        return resolveAwaitable(
          () => crossOrigin.ask(asked),
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
      const signedIn = signedInReader(options, request)
      const fresh = await oauth.freshToken(fromNodeRequest(request, signedIn))
      response.locals.csrfToken = fresh.csrfToken
      if (fresh.setCookie) response.append('set-cookie', fresh.setCookie)
      next()
    },
  }
}
