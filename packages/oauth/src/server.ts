import {
  type HttpRequest,
  type HttpResponse,
  type HttpRoutes,
  type RouteMatch,
  requireRoute,
  respondToWebRequest,
  withoutBody,
} from '@tollgate/http'
import { findRequestingApplication } from './authorization/requesting-application.ts'
import { type Clients, createClients } from './clients/manage.ts'
import type { StoreClock } from './clock.ts'
import type { ServerContext } from './context.ts'
import { createContext } from './create-context.ts'
import type { SigningAlgorithm } from './crypto.ts'
import { buildMetadataHint } from './endpoints/resource-metadata.ts'
import type { Events } from './events.ts'
import { createFailureResponse, toPublicError } from './failure.ts'
import {
  addResponseHeaders,
  type CrossOriginRules,
  createCrossOriginRules,
  decideEndpointCrossOrigin,
} from './features/cross-origin.ts'
import type { CrossOriginPolicy } from './features/feature.ts'
import { type FreshToken, issueFreshCookieToken } from './guard/fresh-token.ts'
import { createGuard, type Guard } from './guard/guard.ts'
import type { ScopeLimiter } from './guard/scope-limits.ts'
import { errorResponse } from './http/responses.ts'
import type { KeyRotation } from './keys/signing-keys.ts'
import { findNetwork } from './limits/network.ts'
import type { Logger } from './logger.ts'
import { scheduleDeliveries, sendDueDeliveries } from './maintenance/deliver.ts'
import { countEverything, type EndedCounts, endEverything } from './maintenance/end-everything.ts'
import { purgeExpiredRows, schedulePurge } from './maintenance/purge.ts'
import { countRowsToReseal, resealStoredSecrets } from './maintenance/reseal.ts'
import { type AuthorizationServerOptions, resolveOptions } from './options.ts'
import type { RequestingApplication } from './pages/pages.ts'
import type { ResourceServer } from './resources/resources.ts'
import { createOAuthRouter, type EndpointRoute, needsClock } from './routes.ts'
import type { ScopeDefinitions } from './scopes.ts'
import { isPossibleId } from './storage/possible-id.ts'
import type { ClientSession, Consent, Token } from './storage/records.ts'
import type { AddedClaims } from './tokens/formats/claims-hook.ts'
import { createGuardProofChecker } from './tokens/key-holder.ts'
import { issuePersonalAccessToken, type PersonalAccessToken } from './tokens/personal-access.ts'
import { endHashedSession, revokeConsent, revokeToken, revokeUser } from './tokens/revoke.ts'
import { listTokenPage, type TokenPage, type TokenPageOptions } from './tokens/token-pages.ts'
import type { UserProvider } from './users/providers.ts'
import { hashSessionId } from './users/signed-in.ts'
import type { ApplicationUser } from './users/users.ts'

/** Arguments of `tokens.createPersonal()`. */
export interface NewPersonalAccessToken {
  /** The user who owns the token. */
  readonly userId: string | number
  /** Name that the owner gave the token. */
  readonly name: string
  /** Scopes of the token. @default [] */
  readonly scopes?: readonly string[]
  /**
   * When the token expires, at the latest after `personalAccessTokensExpireIn`.
   * @default the longest lifetime
   */
  readonly expiresAt?: Date
}

/** The API and the users that a guard protects. */
export interface GuardTarget {
  /** URL of the API in the option `resources`. @default the API of the server itself */
  readonly resource?: string
  /** Name of the user provider whose users are accepted. @default the users of every provider */
  readonly provider?: string
}

/** A signing key without its private part. */
export interface SigningKeyInfo {
  /** Key id, as in the header of tokens and in the published key set. */
  readonly kid: string
  /** Algorithm that the key signs with. */
  readonly algorithm: SigningAlgorithm
  /** When the key starts to sign. It is published earlier. */
  readonly activeFrom: Date
}

/**
 * An OAuth 2.0 authorization server that runs inside an application. Created by
 * `createAuthorizationServer()`.
 */
export interface AuthorizationServer<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> extends HttpRoutes {
  /** Handles a request to any route of the server. Responds with 404 to other paths. */
  fetch(request: Request): Promise<Response>
  /**
   * Handles a request like `fetch`, without Web-standard objects; used by the adapters. Returns
   * `null` if the path is not a route of the server.
   */
  handle(request: HttpRequest): Promise<HttpResponse> | null
  /** Whether the path is a route of the server. For frameworks that also serve other routes. */
  handles(path: string): boolean
  /** All paths of the server, with `{id}` for a variable segment. */
  readonly paths: readonly string[]
  /** Public base URL of the server. */
  readonly issuer: string
  /** Description of each scope by name, including the scopes of features. */
  readonly scopes: ScopeDefinitions
  /** Description of each machine scope by name, for pages on which you manage clients. */
  readonly machineScopes: ScopeDefinitions
  /**
   * Resolves once the server has migrated the tables, created its first key and read the
   * revocations. Every request waits for it.
   */
  ready(): Promise<void>
  /**
   * Resolves if the server can verify tokens: the database responds and all revocations are known.
   * For a readiness probe. Queries the database only if its last answer is older than a second.
   * @throws OAuthError `temporarily_unavailable`; its `cause` is a `NotPrimary` if the database
   * server is a standby, is read-only or lags behind the primary
   */
  checkReady(): Promise<void>
  /** Authenticates requests to the application's own routes. */
  readonly guard: Guard<User, Claims>
  /**
   * Returns the guard of another API, by its URL in the option `resources`, or of one user
   * provider. It lets in only tokens for that API and users of that provider.
   * @throws TypeError if there is no such resource or provider
   * @example
   * const guard = oauth.guardFor({ provider: 'admins' })
   */
  guardFor(target: string | GuardTarget): Guard<User, Claims>
  /**
   * Limits what callers may do beyond the scopes of their tokens, for example to what their plan
   * includes. Applies to every guard of this server, to every kind of token and to cookie mode: for
   * a withheld scope `tokenCan()` is `false`, and the scope checks respond with `refusal()`. Tokens
   * keep their scopes; introspection lists the withheld ones as `withheld_scope`. With several
   * limiters, a scope has to be allowed by all of them. Returns a function that removes the limiter,
   * which takes effect at once.
   * @example
   * ```ts
   * const freePlan = {
   *   allows: (scope) => scope !== 'place-orders',
   *   refusal: (scopes) => ({
   *     status: 402,
   *     headers: { 'content-type': 'application/problem+json' },
   *     body: JSON.stringify({ title: 'Your plan does not include this', scopes }),
   *   }),
   * }
   * oauth.limitScopes({
   *   limitsOf: ({ userId }) => (userId === null || customers.has(userId) ? null : freePlan),
   * })
   * ```
   */
  limitScopes(limiter: ScopeLimiter): () => void
  /**
   * Cross-origin rules for your guarded routes, used by the adapters' `cors()`. `null` without the
   * feature `cors()`.
   */
  readonly crossOrigin: CrossOriginRules | null
  /**
   * Notifies you of tokens that are issued and revoked, and of operators' changes.
   * @example
   * oauth.events.on('AccessTokenRevoked', ({ tokenId }) => audit.write(`revoked ${tokenId}`))
   */
  readonly events: Events
  /** Creates, changes, lists and deletes clients. */
  readonly clients: Clients
  /** Finds and revokes tokens, and creates personal access tokens. */
  readonly tokens: {
    /**
     * Creates a personal access token. Its text is returned only once, because it is not stored.
     * @example
     * ```ts
     * const { accessToken, token } = await oauth.tokens.createPersonal({
     *   userId: 1,
     *   name: 'Backup script',
     *   scopes: ['check-status'],
     * })
     * ```
     */
    createPersonal(request: NewPersonalAccessToken): Promise<PersonalAccessToken>
    /** Finds a token by id, even if it is revoked or expired. `null` if there is none. */
    find(id: string): Promise<Token | null>
    /**
     * Lists one page of the valid tokens, newest first: all tokens, or those of a user or of a
     * client.
     * @throws ValidationFailed if an option is invalid
     * @example
     * ```ts
     * const { tokens, next } = await oauth.tokens.page({ clientId: client.id, limit: 20 })
     * ```
     */
    page(options?: TokenPageOptions): Promise<TokenPage>
    /** Lists the user's valid tokens, the newest first. */
    listByUser(userId: string | number): Promise<Token[]>
    /**
     * Revokes a token together with its refresh token, on every process within a second. Also works
     * if the token's row was lost, for example in a failover.
     * @example
     * ```ts
     * const [newest] = await oauth.tokens.listByUser(1)
     * if (newest) await oauth.tokens.revoke(newest.id)
     * ```
     */
    revoke(id: string): Promise<void>
  }
  /** Lists and revokes the approvals of people. */
  readonly consents: {
    /** Lists the user's remembered approvals. */
    listByUser(userId: string | number): Promise<Consent[]>
    /** Deletes the remembered approval and revokes the tokens issued because of it. */
    revoke(userId: string | number, clientId: string): Promise<void>
  }
  /**
   * Sessions in which clients took part by OpenID Connect. Always empty without `openid({ logout:
   * true })`.
   */
  readonly sessions: {
    /** Lists the clients that took part in the user's sessions, most recently used first. */
    listByUser(userId: string | number): Promise<ClientSession[]>
    /**
     * Ends the session that a client knows by this `sid`: the session's cookies of cookie mode stop
     * working, and every client that took part is notified. Returns `false` if there is no such
     * session. Does not end the application's own session, which you find by comparing `sessionId`
     * of `listByUser()` with `hash()` of your session ids.
     */
    end(sid: string): Promise<boolean>
    /**
     * Moves the session to a new id. Call it before `endSession(before)` when the same person
     * signed in again under a new session id.
     */
    move(before: string, after: string): Promise<void>
    /**
     * Returns the hash of a session id of the application, comparable with `sessionId` of
     * `listByUser()`.
     */
    hash(sessionId: string): string
  }
  /** Rotates, revokes and lists signing keys. */
  readonly keys: {
    /**
     * Creates a new signing key. It is published now and starts to sign after `keyPublishedAhead`,
     * or immediately if the options say so. If the database does not answer, the key may have been
     * created nevertheless: check `list()` before you call it again.
     */
    rotate(options?: KeyRotation): Promise<SigningKeyInfo>
    /**
     * Revokes a leaked key: every token that it signed is invalid from now on. Returns whether the
     * key existed.
     */
    revoke(kid: string): Promise<boolean>
    /**
     * Encrypts stored secrets with the new secret while the option `secret` is `[new, old]`, and
     * stores the keys derived from the old secret that are still needed. Afterwards you can remove
     * the old secret from the option. Returns the number of entries changed.
     */
    reseal(): Promise<number>
    /** Returns the number of entries that `reseal()` would change. */
    toReseal(): Promise<number>
    /** Lists the future, current and former keys that are not revoked. */
    list(): Promise<readonly SigningKeyInfo[]>
  }
  /**
   * Finds the application that a person signs in for, from the `return_to` parameter of your
   * sign-in page, so that the page can name it. `null` if there is none. Only the client id is
   * taken from the URL; everything else comes from the server, so a link cannot fake a name.
   */
  findRequestingApplication(returnTo: string): Promise<RequestingApplication | null>
  /**
   * Returns the CSRF token of the signed-in person for cookie mode, and the `Set-Cookie` header
   * that renews or deletes the cookie.
   */
  freshToken(request: HttpRequest): Promise<FreshToken>
  /**
   * Revokes all tokens of a user and ends the user's sessions. Call it when an account is deleted
   * or disabled, or its password changes.
   */
  revokeUser(userId: string | number): Promise<void>
  /**
   * Ends a session of the application: its cookie of cookie mode becomes invalid on every process.
   * Call it when a person signs out. With `openid({ logout: true })`, every client that took part
   * in the session is notified.
   */
  endSession(sessionId: string): Promise<void>
  /**
   * Ends every token (including personal ones), refresh token, code, remembered consent and cookie
   * issued so far, on every process within a second. Call it after you restored a backup, or after
   * a failover that lost writes, and end the sessions of your application first. Safe to repeat.
   */
  endEverything(): Promise<EndedCounts>
  /** Counts what `endEverything()` would end. */
  countEverything(): Promise<EndedCounts>
  /**
   * Sends pending notifications, such as logout tokens, and returns their number. The server calls
   * this every ten seconds.
   */
  deliver(): Promise<number>
  /** Deletes expired rows and returns their number. */
  purge(): Promise<number>
  /**
   * Stops the timers, and waits until the last uses of tokens are stored. Does not close the
   * database, which belongs to the caller.
   */
  close(): Promise<void>
}

/**
 * Creates an authorization server.
 * @throws TypeError if an option is invalid
 * @example
 * const oauth = createAuthorizationServer({
 *   issuer: 'https://api.example.com',
 *   secret: process.env.TOLLGATE_SECRET,
 *   database: await connect(process.env.DATABASE_URL),
 *   users,
 *   scopes: { 'place-orders': 'Place orders', 'check-status': 'Check order status' },
 *   grants: [authorizationCode(), refreshToken()],
 * })
 */
export function createAuthorizationServer<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
>(input: AuthorizationServerOptions<User, Claims>): AuthorizationServer<User, Claims> {
  const options = resolveOptions(input)
  const context = createContext(options)
  const router = createOAuthRouter(options)
  const { clock } = options.storage
  const stopWatching =
    clock && clock === context.clock ? watchClock(clock, context.logger) : () => {}
  let stopTimers = () => {}
  for (const grant of options.grants) grant.start?.(context)
  const stopFeatures = options.features.flatMap((feature) => feature.start?.(context) ?? [])
  let isReady = false
  let starting: Promise<void> | null = null

  async function start(): Promise<void> {
    if (options.migrate) await context.storage.migrate()
    else await context.storage.requireMigrations?.()
    if (clock && clock === context.clock) await clock.begin()
    await context.keys.load()
    await context.feed.load()
    context.feed.start()
    const stops = [schedulePurge(context), scheduleDeliveries(context)]
    stopTimers = () => {
      for (const stop of stops) stop()
    }
    isReady = true
  }

  function ready(): Promise<void> {
    starting ??= start().catch((error) => {
      // Lets the next request try again: a database that was down at start-up may be back.
      starting = null
      throw error
    })
    return starting
  }

  async function checkReady(): Promise<void> {
    if (!isReady) await ready()
    if (!context.feed.isFresh()) await context.feed.sync()
  }

  const { crossOrigin: policy } = context.features

  function handle(request: HttpRequest): Promise<HttpResponse> | null {
    const match = router.match(request.path)
    if (!match) return null
    return policy ? respondAcrossOrigins(policy, match, request) : respond(match, request)
  }

  async function respondAcrossOrigins(
    policy: CrossOriginPolicy,
    match: RouteMatch<EndpointRoute>,
    request: HttpRequest,
  ): Promise<HttpResponse> {
    // If this fails, handling the request reports the error.
    if (!isReady) await ready().catch(() => {})
    const verdict = await decideEndpointCrossOrigin(policy, match, request, context)
    if (verdict?.preflight) return verdict.preflight
    const response = await respond(match, request)
    return verdict ? addResponseHeaders(response, verdict.headers) : response
  }

  const hasExtras = options.features.length > 0 || options.grants.some(({ routes }) => routes)

  /** Adds the network of the request to the context if a feature or a grant may need it. */
  function contextOf(request: HttpRequest): ServerContext {
    return hasExtras ? { ...context, network: findNetwork(request, options) } : context
  }

  async function respond(
    match: RouteMatch<EndpointRoute>,
    request: HttpRequest,
  ): Promise<HttpResponse> {
    let response: HttpResponse
    try {
      const route = requireRoute(match, request.method)
      if (!isReady) await ready()
      if (needsClock(route)) await context.clock.check?.()
      response = await route.endpoint(request, contextOf(request), match.id)
    } catch (error) {
      response = await createFailureResponse(error, request, context).catch((failure) =>
        // The application's own error page has thrown, but the caller still needs a response.
        errorResponse(toPublicError(failure, context)),
      )
    }
    return request.method === 'HEAD' ? withoutBody(response) : response
  }

  const guardOf = (resource: ResourceServer, provider: UserProvider | null) =>
    createGuard<User, Claims>({
      verifier: context.verifier,
      cookies: context.cookies,
      users: context.users,
      providers: options.providers,
      provider,
      ready: () => (isReady ? null : ready()),
      publicError: (thrown) => toPublicError(thrown, context),
      audience: resource.audience,
      metadataHint: options.hasResources ? buildMetadataHint(resource) : null,
      proofs: createGuardProofChecker(resource, context),
      addsSignInClaims: context.features.addsSignInClaims,
      machineScopes: options.machineScopeNames,
      identityScopes: options.identityScopes,
      scopeLimiters: context.scopeLimiters,
      findClient: context.clients.find,
      clock: options.clock,
    })
  const guard = guardOf(options.resources.own, null)

  function findResource(uri: string): ResourceServer {
    const resource = options.resources.others.get(uri)
    if (resource) return resource
    const known = [...options.resources.others.keys()].join(', ') || 'none'
    throw new TypeError(`resource: '${uri}' is not listed in the option resources: ${known}.`)
  }

  function findProvider(name: string): UserProvider {
    const provider = options.providers.find(name)
    if (provider) return provider
    throw new TypeError(`provider: '${name}' is not listed in the option users.`)
  }

  const { require: ownerKey } = options.providers
  const hashOf = (sessionId: string) => hashSessionId(ownerKey(sessionId))

  return {
    handle,
    fetch: (request) => respondToWebRequest({ handle }, request),
    handles: (path) => router.match(path) !== null,
    paths: router.paths,
    issuer: options.issuer,
    scopes: options.scopes,
    machineScopes: options.machineScopes,
    ready,
    checkReady,
    guard,
    guardFor(target) {
      const { resource, provider }: GuardTarget =
        typeof target === 'string' ? { resource: target } : target
      return guardOf(
        resource === undefined ? options.resources.own : findResource(resource),
        provider === undefined ? null : findProvider(provider),
      )
    },
    limitScopes: (limiter) => context.scopeLimiters.add(limiter),
    crossOrigin: policy && createCrossOriginRules(policy, context),
    events: context.events,
    clients: afterReady(createClients(context), ready),
    tokens: afterReady(
      {
        createPersonal: ({ userId, name, scopes = [], expiresAt }: NewPersonalAccessToken) =>
          issuePersonalAccessToken(
            { name, scopes, expiresAt },
            async () => ownerKey(userId),
            context,
          ),
        find: async (id: string) => (isPossibleId(id) ? context.storage.tokens.find(id) : null),
        page: (page: TokenPageOptions = {}) => listTokenPage(page, context),
        listByUser: (userId: string | number) =>
          context.storage.tokens.listByUser(ownerKey(userId), options.clock.now()),
        revoke: async (id: string) => {
          if (isPossibleId(id)) await revokeToken(id, context)
        },
      },
      ready,
    ),
    consents: afterReady(
      {
        listByUser: (userId: string | number) =>
          context.storage.consents.listByUser(ownerKey(userId)),
        revoke: async (userId: string | number, clientId: string) => {
          if (isPossibleId(clientId)) await revokeConsent(ownerKey(userId), clientId, context)
        },
      },
      ready,
    ),
    sessions: {
      ...afterReady(
        {
          listByUser: (userId: string | number) =>
            context.storage.sessions.listByUser(ownerKey(userId)),
          end: async (sid: string) => {
            const session = isPossibleId(sid) ? await context.storage.sessions.find(sid) : null
            if (session) await endHashedSession(session.sessionId, context)
            return session !== null
          },
          move: (before: string, after: string) =>
            context.storage.sessions.move(hashOf(before), hashOf(after)),
        },
        ready,
      ),
      hash: hashOf,
    },
    keys: afterReady(
      {
        rotate: (how?: KeyRotation) => context.keys.rotate(how),
        revoke: (kid: string) => context.keys.revoke(kid),
        reseal: () => resealStoredSecrets(context),
        toReseal: () => countRowsToReseal(context),
        list: async () => context.keys.all(),
      },
      ready,
    ),
    ...afterReady(
      {
        findRequestingApplication: (returnTo: string) =>
          findRequestingApplication(returnTo, context),
        freshToken: (request: HttpRequest) => issueFreshCookieToken(request, context),
        revokeUser: (userId: string | number) => revokeUser(ownerKey(userId), context),
        endSession: (sessionId: string) => endHashedSession(hashOf(sessionId), context),
        endEverything: () => endEverything(context),
        countEverything: () => countEverything(context),
        deliver: () => sendDueDeliveries(context),
        purge: () => purgeExpiredRows(context),
      },
      ready,
    ),
    async close() {
      context.feed.stop()
      stopTimers()
      stopWatching()
      for (const stop of stopFeatures) stop()
      await context.verifier.finishWrites()
    },
  }
}

/** Logs when this process stops trusting the shared clock, and when it trusts the clock again. */
function watchClock(clock: StoreClock, logger: Required<Logger>): () => void {
  return clock.onChange((problem) => {
    if (problem === null)
      logger.warn('The clock of this process is trusted again, and it issues tokens')
    else logger.error(`This process issues no tokens until its clock can be trusted. ${problem}.`)
  })
}

/** Wraps the methods so that each waits until the server is ready. */
function afterReady<Methods extends object>(methods: Methods, ready: () => Promise<void>): Methods {
  const waiting = Object.entries(methods).map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      await ready()
      return method(...args)
    },
  ])
  return Object.fromEntries(waiting)
}
