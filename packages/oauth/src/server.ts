import {
  fetchFrom,
  type HttpRequest,
  type HttpResponse,
  type HttpRoutes,
  type Match,
  requireRoute,
  withoutBody,
} from '@tollgate/http'
import { findAsking } from './authorization/asking-application.ts'
import { type Clients, manageClients } from './clients/manage.ts'
import type { StoreClock } from './clock.ts'
import type { ServerContext } from './context.ts'
import { createContext } from './create-context.ts'
import type { SigningAlgorithm } from './crypto.ts'
import { guardAdvice } from './endpoints/resource-metadata.ts'
import type { Events } from './events.ts'
import { failureResponse, publicError } from './failure.ts'
import {
  type CrossOrigin,
  endpointCrossOrigin,
  guardedCrossOrigin,
  withHeaders,
} from './features/cross-origin.ts'
import type { CrossOriginPolicy } from './features/feature.ts'
import { type FreshToken, freshToken } from './guard/fresh-token.ts'
import { createGuard, type Guard } from './guard/guard.ts'
import { errorResponse } from './http/responses.ts'
import type { KeyRotation } from './keys/signing-keys.ts'
import { findNetwork } from './limits/network.ts'
import type { Logger } from './logger.ts'
import { deliver, scheduleDeliveries } from './maintenance/deliver.ts'
import { countEverything, type Ended, endEverything } from './maintenance/end-everything.ts'
import { purge, schedulePurge } from './maintenance/purge.ts'
import { reseal, toReseal } from './maintenance/reseal.ts'
import { type AuthorizationServerOptions, resolveOptions } from './options.ts'
import type { AskingApplication } from './pages/pages.ts'
import type { Resource } from './resources/resources.ts'
import { createOAuthRouter, type EndpointRoute, needsClock } from './routes.ts'
import type { ScopeDefinitions } from './scopes.ts'
import { isPossibleId } from './storage/possible-id.ts'
import type { ClientSession, Consent, Token } from './storage/records.ts'
import type { AddedClaims } from './tokens/formats/claims-hook.ts'
import { guardProofs } from './tokens/key-holder.ts'
import { issuePersonalAccessToken, type PersonalAccessToken } from './tokens/personal-access.ts'
import {
  endHashedSession,
  endSession,
  revokeConsent,
  revokeToken,
  revokeUser,
} from './tokens/revoke.ts'
import { type ApplicationUser, hashSessionId } from './users/users.ts'

/** What a personal access token is made with. */
export interface NewPersonalAccessToken {
  /** Whose it is. */
  readonly userId: string | number
  /** What its owner calls it. */
  readonly name: string
  /** What it may do; none by default. */
  readonly scopes?: readonly string[]
}

/** A signing key, without the key. */
export interface SigningKeyInfo {
  /** Its id, as tokens and the key set name it. */
  readonly kid: string
  /** What it signs with. */
  readonly algorithm: SigningAlgorithm
  /** From here on it signs; it is published before. */
  readonly activeFrom: Date
}

/** An OAuth 2.0 authorization server inside an application. */
export interface AuthorizationServer<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> extends HttpRoutes {
  /** Answers every route; 404 for addresses that are not ours. */
  fetch(request: Request): Promise<Response>
  /** What `fetch` does, without Web-standard objects; the adapters use it. Null for other addresses. */
  handle(request: HttpRequest): Promise<HttpResponse> | null
  /** Whether a path is one of ours, for frameworks that serve other things beside. */
  handles(path: string): boolean
  /** Every path, with `{id}` where a segment varies. */
  readonly paths: readonly string[]
  /** Public base URL. */
  readonly issuer: string
  /** Every scope with its description. */
  readonly scopes: ScopeDefinitions
  /** Migrates, makes the first key and reads the revocations. Every request waits for it. */
  ready(): Promise<void>
  /**
   * Resolves while tokens can be checked: the database answers, and its server knows all that was revoked. For a
   * readiness probe; asks the database only if the last answer is older than a second.
   * @throws OAuthError `temporarily_unavailable`; its `cause` is a `NotPrimary` when the server is a standby, read-only or behind
   */
  checkReady(): Promise<void>
  /** Decides who calls a route of the application. */
  readonly guard: Guard<User, Claims>
  /** The same for another API, by its address in the option `resources`: only tokens for it are let in. */
  guardFor(resource: string): Guard<User, Claims>
  /** What pages on other origins may read of your guarded routes; the adapters' `cors()` asks it. Null without `cors()`. */
  readonly crossOrigin: CrossOrigin | null
  /** Hear of tokens that are issued and revoked. */
  readonly events: Events
  /** Register and change clients. */
  readonly clients: Clients
  /** Find and revoke tokens, and make personal ones. */
  readonly tokens: {
    /** Shown once: the text is not stored. */
    createPersonal(request: NewPersonalAccessToken): Promise<PersonalAccessToken>
    find(id: string): Promise<Token | null>
    listByUser(userId: string | number): Promise<Token[]>
    revoke(id: string): Promise<void>
  }
  /** What people have approved. */
  readonly consents: {
    listByUser(userId: string | number): Promise<Consent[]>
    /** Forgets the approval and ends the tokens that rest on it. */
    revoke(userId: string | number, clientId: string): Promise<void>
  }
  /** Where people are signed in by OpenID Connect: with `openid({ logout: true })`, otherwise there are none. */
  readonly sessions: {
    /** Each client that took part in a session of this person, those used last first. */
    listByUser(userId: string | number): Promise<ClientSession[]>
    /**
     * Ends the session that a client knows by this `sid`: its cookie mode, and every client that took part is
     * told. False when there is none. Your own session is yours to end: `sessionId` of the list is its hash.
     */
    end(sid: string): Promise<boolean>
    /** Call it before `endSession(before)` when a session got a new id because the same person signed in again. */
    move(before: string, after: string): Promise<void>
    /** What `sessionId` of the list is for an id of yours. */
    hash(sessionId: string): string
  }
  /** Rotate and revoke signing keys. */
  readonly keys: {
    /** Published now; signs after `keyPublishedAhead`, or at once. */
    rotate(options?: KeyRotation): Promise<{ readonly kid: string }>
    /** For a key that leaked: every token it signed fails from now on. */
    revoke(kid: string): Promise<boolean>
    /**
     * While `secret` is `[new, old]`: seals what is stored with the new one, and keeps what the old one is
     * still needed for, so that it can be dropped. Says how much there was to do.
     */
    reseal(): Promise<number>
    /** How much `reseal()` would do. */
    toReseal(): Promise<number>
    list(): Promise<readonly SigningKeyInfo[]>
  }
  /**
   * Which application waits behind the `return_to` of your sign-in page, to name it there; null for none. What it
   * says is ours: nothing but the client's id is taken from the address.
   */
  findAsking(returnTo: string): Promise<AskingApplication | null>
  /** Cookie mode: the CSRF token of whoever is signed in, and the cookie to set or to clear. */
  freshToken(request: HttpRequest): Promise<FreshToken>
  /** Call it when an account is deleted or disabled, or its password changes: all its tokens end. */
  revokeUser(userId: string | number): Promise<void>
  /**
   * Call it when somebody signs out: the cookie of cookie mode ends on every process, and with
   * `openid({ logout: true })` every client that took part in the session is told.
   */
  endSession(sessionId: string): Promise<void>
  /**
   * After a restored backup, or a failover that lost writes: every token (personal ones too), refresh token,
   * code, remembered consent and cookie that was issued so far ends, on every process within a second.
   * End the sessions of your application first. Safe to run again.
   */
  endEverything(): Promise<Ended>
  /** What `endEverything()` would end. */
  countEverything(): Promise<Ended>
  /** Sends what is due to be sent, such as logout tokens; says how many. Done every ten seconds by itself. */
  deliver(): Promise<number>
  /** Deletes what has ended; says how many rows. */
  purge(): Promise<number>
  /** Stops the timers. The database stays open: it is the caller's. */
  close(): void
}

/**
 * Makes an authorization server. Bad options throw a TypeError here, not at the first request.
 * @example
 * const oauth = createAuthorizationServer({
 *   issuer: 'https://api.example.com', secret, database: await connect('sqlite:app.db'), users,
 *   scopes: { 'place-orders': 'Place orders' }, grants: [authorizationCode(), refreshToken()],
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
      // The next request tries again: a database that was away at start-up may be back.
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
    match: Match<EndpointRoute>,
    request: HttpRequest,
  ): Promise<HttpResponse> {
    // Should it fail, the request itself says so.
    if (!isReady) await ready().catch(() => {})
    const verdict = await endpointCrossOrigin(policy, match, request, context)
    if (verdict?.preflight) return verdict.preflight
    const response = await respond(match, request)
    return verdict ? withHeaders(response, verdict.headers) : response
  }

  const hasExtras = options.features.length > 0 || options.grants.some(({ routes }) => routes)

  /** With the network that the request came from, where a feature or a grant may need it. */
  function contextOf(request: HttpRequest): ServerContext {
    return hasExtras ? { ...context, network: findNetwork(request, options) } : context
  }

  async function respond(match: Match<EndpointRoute>, request: HttpRequest): Promise<HttpResponse> {
    let response: HttpResponse
    try {
      const route = requireRoute(match, request.method)
      if (!isReady) await ready()
      if (needsClock(route)) await context.clock.check?.()
      response = await route.endpoint(request, contextOf(request), match.id)
    } catch (error) {
      response = await failureResponse(error, request, context).catch((failure) =>
        // The application's own error page has failed; whoever called must still get a response.
        errorResponse(publicError(failure, context)),
      )
    }
    return request.method === 'HEAD' ? withoutBody(response) : response
  }

  const guardOf = (resource: Resource) =>
    createGuard<User, Claims>({
      verifier: context.verifier,
      cookies: context.cookies,
      users: options.users,
      ready: () => (isReady ? null : ready()),
      publicError: (thrown) => publicError(thrown, context),
      audience: resource.audience,
      advice: options.hasResources ? guardAdvice(resource) : null,
      proofs: guardProofs(resource, context),
      tellsSignIn: context.features.tellsSignIn,
      clock: options.clock,
    })
  const guard = guardOf(options.resources.own)

  return {
    handle,
    fetch: (request) => fetchFrom({ handle }, request),
    handles: (path) => router.match(path) !== null,
    paths: router.paths,
    issuer: options.issuer,
    scopes: options.scopes,
    ready,
    checkReady,
    guard,
    guardFor(uri) {
      const resource = options.resources.others.get(uri)
      if (resource) return guardOf(resource)
      const known = [...options.resources.others.keys()].join(', ') || 'none'
      throw new TypeError(
        `resource: '${uri}' is not one of those in the option resources: ${known}.`,
      )
    },
    crossOrigin: policy && guardedCrossOrigin(policy, context),
    events: context.events,
    clients: afterReady(manageClients(context), ready),
    tokens: afterReady(
      {
        createPersonal: ({ userId, name, scopes = [] }: NewPersonalAccessToken) =>
          issuePersonalAccessToken({ name, scopes }, async () => String(userId), context),
        find: async (id: string) => (isPossibleId(id) ? context.storage.tokens.find(id) : null),
        listByUser: (userId: string | number) =>
          context.storage.tokens.listByUser(String(userId), options.clock.now()),
        revoke: async (id: string) => {
          if (isPossibleId(id)) await revokeToken(id, context)
        },
      },
      ready,
    ),
    consents: afterReady(
      {
        listByUser: (userId: string | number) =>
          context.storage.consents.listByUser(String(userId)),
        revoke: async (userId: string | number, clientId: string) => {
          if (isPossibleId(clientId)) await revokeConsent(String(userId), clientId, context)
        },
      },
      ready,
    ),
    sessions: {
      ...afterReady(
        {
          listByUser: (userId: string | number) =>
            context.storage.sessions.listByUser(String(userId)),
          end: async (sid: string) => {
            const session = isPossibleId(sid) ? await context.storage.sessions.find(sid) : null
            if (session) await endHashedSession(session.sessionId, context)
            return session !== null
          },
          move: (before: string, after: string) =>
            context.storage.sessions.move(hashSessionId(before), hashSessionId(after)),
        },
        ready,
      ),
      hash: hashSessionId,
    },
    keys: afterReady(
      {
        rotate: (how?: KeyRotation) => context.keys.rotate(how),
        revoke: (kid: string) => context.keys.revoke(kid),
        reseal: () => reseal(context),
        toReseal: () => toReseal(context),
        list: async () => context.keys.all(),
      },
      ready,
    ),
    ...afterReady(
      {
        findAsking: (returnTo: string) => findAsking(returnTo, context),
        freshToken: (request: HttpRequest) => freshToken(request, context),
        revokeUser: (userId: string | number) => revokeUser(String(userId), context),
        endSession: (sessionId: string) => endSession(sessionId, context),
        endEverything: () => endEverything(context),
        countEverything: () => countEverything(context),
        deliver: () => deliver(context),
        purge: () => purge(context),
      },
      ready,
    ),
    close() {
      context.feed.stop()
      stopTimers()
      stopWatching()
      for (const stop of stopFeatures) stop()
    },
  }
}

/** Logs when the clock that all processes share is not trusted here, and when it is again. */
function watchClock(clock: StoreClock, logger: Required<Logger>): () => void {
  return clock.onChange((problem) => {
    if (problem === null)
      logger.warn('The time of this process is right again, and it issues tokens')
    else logger.error(`This process issues nothing until its time is right. ${problem}.`)
  })
}

/** The same methods, each waiting until the server is ready. */
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
