import type { HttpResponse } from '@tollgate/http'
import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import type { Clock } from '../clock.ts'
import { InsufficientScope, InvalidToken, type OAuthError, type TokenScheme } from '../errors.ts'
import { errorResponse } from '../http/responses.ts'
import { holdsScope } from '../scopes.ts'
import type { Actor } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import {
  type AccessTokenClaims,
  isBoundToKey,
  isForAudience,
  pickAddedClaims,
} from '../tokens/formats/claims.ts'
import type { AddedClaims } from '../tokens/formats/claims-hook.ts'
import type { UserProvider, UserProviders } from '../users/providers.ts'
import type { ApplicationUser, Users } from '../users/users.ts'
import { addDpopChallenge } from './challenge.ts'
import type { CookieMode } from './cookie-mode.ts'
import type { GuardProofChecker } from './key-proof.ts'
import {
  findWithheldResponse,
  isWithheld,
  type ScopeLimiters,
  type ScopeLimits,
  type ScopeStatus,
  ScopesWithheld,
} from './scope-limits.ts'
import { type CallerSignIn, createSignInCheck, type StepUpDemand } from './step-up.ts'
import type { TokenVerifier, VerifiedToken } from './verify.ts'

/** The parts of a request that a guard reads, so that adapters need not build a Request object. */
export interface GuardCredentials {
  /** The `Authorization` header. */
  readonly authorization: string | null | undefined
  /** The `Cookie` header, for cookie mode. */
  readonly cookie: string | null | undefined
  /** The `X-CSRF-TOKEN` header, which cookie mode requires. */
  readonly csrfToken: string | null | undefined
  /** The `DPoP` header, which tokens bound to a key require (RFC 9449). */
  readonly dpop?: string | null | undefined
  /** The method of the request in upper case. Required for DPoP. */
  readonly method?: string | undefined
  /** The path of the request as sent, without the query. Required for DPoP. */
  readonly path?: string | undefined
}

/** The authenticated caller of a guarded route. */
export interface Caller<Claims extends object = AddedClaims> {
  /**
   * The `client_id` of the calling client. `null` in cookie mode, where the user calls without a
   * client.
   */
  readonly clientId: string | null
  /** Id of the token. `null` in cookie mode. */
  readonly tokenId: string | null
  /** The scopes of the token. Empty in cookie mode, where scope checks pass. */
  readonly scopes: readonly string[]
  /**
   * Whether the token has the scope and no limit (`oauth.limitScopes()`) withholds it. In cookie
   * mode every scope counts as held, except for machine scopes.
   */
  tokenCan(scope: string): boolean
  /**
   * Like `tokenCan()`, but distinguishes scopes that limits withhold from scopes that the token
   * lacks.
   */
  scopeStatus(scope: string): ScopeStatus
  /**
   * Builds the response to a request that needs these withheld scopes, as the limits define it.
   * `null` if the caller has no limits. The middleware `scopes()` and `scope()` sends it.
   */
  scopeRefusal(scopes: readonly string[]): HttpResponse | null
  /** Whether the token is bound to a key, which the caller has proven to hold (DPoP). */
  readonly boundToKey?: boolean
  /**
   * The sign-in behind the token, if the server has the feature `stepUp()`. `null` or absent if the
   * token does not contain it.
   */
  readonly signIn?: CallerSignIn | null
  /**
   * Claims that the application added to the token (`accessTokenClaims`), as they were when it was
   * issued. Empty in cookie mode, and for tokens issued before the option was set.
   */
  readonly claims: Readonly<Partial<Claims>>
}

/** The user behind a request, and what the token may do. */
export interface AuthenticatedUser<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> extends Caller<Claims> {
  /**
   * Id of the user. With several user providers it has the form `provider/id`, unless the guard is
   * for a single provider.
   */
  readonly id: string
  /**
   * The party that acts for the user (RFC 8693 §4.1). If there is a chain of actors, this is the
   * most recent one, and the earlier ones are nested in it. `null` if the user acts directly.
   */
  readonly actor: Actor | null
  /**
   * Reads the application's record of the user through `users.findById()`, at most once per
   * request. `null` if the user no longer exists.
   * @example
   * ```ts
   * app.get('/me', auth('api'), async (request, response) => {
   *   const account = await user(request).find()
   *   response.json({ name: account?.name })
   * })
   * ```
   */
  find(): Promise<User | null>
}

/** A client that acts for itself, with a token from the client credentials grant. */
export interface AuthenticatedClient<Claims extends object = AddedClaims> extends Caller<Claims> {
  /** The `client_id` of the client. */
  readonly clientId: string
  /**
   * Returns the client as it is now, from the cache of the server. `null` if it was deleted. Use it
   * to check a scope again that the client may have lost since the token was issued.
   * @example
   * ```ts
   * app.delete('/users/:id', auth('client'), scopes('users:delete'), async (request, response) => {
   *   const client = await request.oauthClient?.find()
   *   if (!client?.scopes?.includes('users:delete')) return response.sendStatus(403)
   *   // …
   * })
   * ```
   */
  find(): Promise<Client | null>
}

/** Types of caller by guard name. */
export interface GuardResults<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /** A user, authenticated by an access token or by cookie mode. */
  api: AuthenticatedUser<User, Claims>
  /** A client that acts for itself. */
  client: AuthenticatedClient<Claims>
}

/** Name of a guard: `api` for users, `client` for clients that act for themselves. */
export type GuardName = keyof GuardResults

/**
 * Authenticates the callers of an API. Adapters wrap it for a framework; use it directly for
 * frameworks without one.
 */
export interface Guard<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /**
   * Authenticates the caller of a request. Returns without a promise for a token seen recently.
   * @throws InvalidToken if the token is missing or invalid
   * @example
   * ```ts
   * try {
   *   const { id } = await oauth.guard.authenticate('api', {
   *     authorization: request.headers.get('authorization'),
   *     cookie: request.headers.get('cookie'),
   *     csrfToken: request.headers.get('x-csrf-token'),
   *   })
   * } catch (error) {
   *   return toWebResponse(oauth.guard.refusal(error))
   * }
   * ```
   */
  authenticate<Name extends GuardName>(
    name: Name,
    credentials: GuardCredentials,
  ): Awaitable<GuardResults<User, Claims>[Name]>
  /** Builds the error response for an error thrown by `authenticate()` or a scope check. */
  refusal(error: unknown): HttpResponse
  /**
   * Builds a check that the user's sign-in is recent or strong enough (RFC 9470).
   * @throws TypeError if the server does not have the feature `stepUp()`
   */
  stepUp(demand: StepUpDemand): (caller: Caller) => void
}

export interface GuardOptions {
  readonly verifier: TokenVerifier
  readonly cookies: CookieMode
  /** The users of all providers, found by owner key. */
  readonly users: Users
  readonly providers: UserProviders
  /** The only provider whose users the guard accepts. `null` for users of every provider. */
  readonly provider: UserProvider | null
  /**
   * Returns a promise that resolves once signing keys and revocations are loaded. Returns `null` if
   * they already are.
   */
  readonly ready: () => Promise<void> | null
  readonly publicError: (thrown: unknown) => OAuthError
  /** The `aud` value of the tokens that the guard accepts. */
  readonly audience: string
  /**
   * Reference to the metadata of the API, added to the challenge for callers without a valid token.
   * `null` if the API has no metadata.
   */
  readonly metadataHint: ResourceMetadataHint | null
  /** Checks DPoP proofs. If `null`, tokens bound to a key are rejected. */
  readonly proofs: GuardProofChecker | null
  /** Whether access tokens state when and how the user signed in (feature `stepUp()`). */
  readonly addsSignInClaims: boolean
  /** Scopes that only clients acting for themselves can have. `*` does not include them. */
  readonly machineScopes: ReadonlySet<string>
  /** Scopes about the person, such as `openid`. Limits do not apply to them. */
  readonly identityScopes: ReadonlySet<string>
  /** Decide what callers may do beyond the scopes of their tokens. */
  readonly scopeLimiters: ScopeLimiters
  /** Finds a client that was not deleted, from the cache. */
  readonly findClient: (id: string) => Awaitable<Client | null>
  readonly clock: Clock
}

/** The protected resource metadata that a challenge points to (RFC 9728 §5.1). */
export interface ResourceMetadataHint {
  readonly metadataUrl: string
  readonly scopesToAskFor: readonly string[]
}

export function createGuard<User extends ApplicationUser, Claims extends object>(
  options: GuardOptions,
): Guard<User, Claims> {
  const { verifier, cookies, proofs, provider, scopeLimiters } = options
  const users = (provider?.users ?? options.users) as Users<User>
  const { machineScopes, identityScopes, findClient } = options
  const userSource: UserSource<User> = { users, machineScopes, identityScopes }
  const clientSource: ClientSource = { findClient, machineScopes, identityScopes }

  /** Returns the user id within the guard's provider. */
  function idOf(key: string): string {
    if (provider === null) return key
    const found = options.providers.locate(key)
    if (found?.provider === provider) return found.id
    throw new InvalidToken('The caller is a user of another provider')
  }

  function assertAudience({ claims }: VerifiedToken): void {
    if (!isForAudience(options.audience, claims))
      throw new InvalidToken('The access token is for another API')
  }

  const ofUser: CallerKind<AuthenticatedUser<User, Claims>> = {
    idOf(token) {
      assertAudience(token)
      if (token.subject.kind === 'user') return idOf(token.subject.id)
      throw new InvalidToken('The access token does not belong to a user')
    },
    build(token, id) {
      if (scopeLimiters.isEmpty) return new TokenUser(userSource, id, token, null)
      const subject = { userId: token.subject.id, clientId: token.clientId }
      return mapAwaitable(
        scopeLimiters.find(subject),
        (limits) => new TokenUser(userSource, id, token, limits),
      )
    },
  }

  const ofClient: CallerKind<AuthenticatedClient<Claims>> = {
    idOf(token) {
      assertAudience(token)
      if (token.subject.kind === 'client') return token.clientId
      throw new InvalidToken('The access token does not belong to a client acting for itself')
    },
    build(token, clientId) {
      if (scopeLimiters.isEmpty) return new TokenClient(clientSource, token, null)
      return mapAwaitable(
        scopeLimiters.find({ userId: null, clientId }),
        (limits) => new TokenClient(clientSource, token, limits),
      )
    },
  }

  /**
   * Verifies the token and builds the caller. Returns without a promise if the token is known and
   * not bound to a key, and the limits on the caller are known.
   */
  function admit<Result>(
    header: string,
    credentials: GuardCredentials,
    kind: CallerKind<Result>,
  ): Awaitable<Result> {
    const found = verifier.verifyHeader(header)
    return found instanceof Promise
      ? found.then((token) => admitVerified(token, header, credentials, kind))
      : admitVerified(found, header, credentials, kind)
  }

  /**
   * Checks that the token is for this guard, and that its key is held. Limits come after all other
   * checks.
   */
  function admitVerified<Result>(
    token: VerifiedToken,
    header: string,
    credentials: GuardCredentials,
    kind: CallerKind<Result>,
  ): Awaitable<Result> {
    const id = kind.idOf(token)
    return isBoundToKey(token.claims)
      ? requireKey(token, header, credentials).then(() => kind.build(token, id))
      : kind.build(token, id)
  }

  /** Checks the proof for a bound token on every request, even if the token itself is cached. */
  async function requireKey(
    token: VerifiedToken,
    header: string,
    { dpop = null, method = '', path = '' }: GuardCredentials,
  ): Promise<void> {
    const key = token.claims.cnf?.jkt
    if (!proofs || key === undefined) {
      throw new InvalidToken(
        'The access token is bound to a key, but DPoP proofs are not supported here',
      )
    }
    const accessToken = header.slice(header.indexOf(' ') + 1)
    const { origins } = proofs
    await proofs.check({ proof: dpop, method, path, origins, accessToken, key })
  }

  async function cookieUser(
    credentials: GuardCredentials,
  ): Promise<AuthenticatedUser<User, Claims>> {
    const found = await cookies.authenticate(credentials.cookie, credentials.csrfToken)
    if (!found) throw createMissingTokenError()
    const id = idOf(found.userId)
    const limits = await scopeLimiters.find({ userId: found.userId, clientId: null })
    return createCookieUser(userSource, id, limits)
  }

  const guards: {
    [Name in GuardName]: (c: GuardCredentials) => Awaitable<GuardResults<User, Claims>[Name]>
  } = {
    api(credentials) {
      const header = credentials.authorization
      if (typeof header !== 'string') return cookieUser(credentials)
      return admit(header, credentials, ofUser)
    },
    client(credentials) {
      const header = credentials.authorization
      if (typeof header !== 'string') throw createMissingTokenError()
      return admit(header, credentials, ofClient)
    },
  }

  return {
    authenticate(name, credentials) {
      const starting = options.ready()
      return starting ? starting.then(() => guards[name](credentials)) : guards[name](credentials)
    },
    refusal: (error) =>
      findWithheldResponse(error) ??
      addDpopChallenge(
        withMetadataHint(errorResponse(options.publicError(error)), options.metadataHint),
        proofs?.algorithms,
      ),
    stepUp(demand) {
      if (options.addsSignInClaims) return createSignInCheck(demand, options.clock)
      throw new TypeError(
        'The stepUp() check needs stepUp() in features: without it, tokens contain nothing about the sign-in',
      )
    },
  }
}

/**
 * Adds the URL of the API's metadata to the challenge, so that a client can find out where to get a
 * token.
 */
function withMetadataHint(
  response: HttpResponse,
  advice: ResourceMetadataHint | null,
): HttpResponse {
  const challenge = response.headers?.['www-authenticate']
  if (!advice || challenge === undefined) return response
  const { metadataUrl, scopesToAskFor } = advice
  const scope =
    response.status === 401 && scopesToAskFor.length > 0
      ? `, scope="${scopesToAskFor.join(' ')}"`
      : ''
  const extended = `${challenge}${scope}, resource_metadata="${metadataUrl}"`
  return { ...response, headers: { ...response.headers, 'www-authenticate': extended } }
}

function createMissingTokenError(): InvalidToken {
  return new InvalidToken('No access token was sent', { presented: false })
}

/** How a guard turns verified tokens into its kind of caller. */
interface CallerKind<Result> {
  /**
   * Checks that the guard accepts the token, and returns the id of the caller.
   * @throws InvalidToken if the token is for another API, or its subject of another kind
   */
  idOf(token: VerifiedToken): string
  /** Builds the caller, with the present limits on it. */
  build(token: VerifiedToken, id: string): Awaitable<Result>
}

/** The scopes that a guard treats differently. */
interface ScopeKinds {
  readonly machineScopes: ReadonlySet<string>
  readonly identityScopes: ReadonlySet<string>
}

/** The parts of a guard that the users it authenticates share. */
interface UserSource<User extends ApplicationUser> extends ScopeKinds {
  readonly users: Users<User>
}

/** The only decision about a scope, for every kind of caller. `isHeld`: whether the token has it. */
function decideScope(
  isHeld: boolean,
  scope: string,
  limits: ScopeLimits | null,
  kinds: ScopeKinds,
): ScopeStatus {
  if (!isHeld) return 'missing'
  return limits !== null && isWithheld(scope, limits, kinds) ? 'withheld' : 'granted'
}

/**
 * A user authenticated by a token. It is a class, because one instance is created per guarded
 * request. It has no base class, because `super()` would cost more than everything else here.
 */
class TokenUser<User extends ApplicationUser, Claims extends object>
  implements AuthenticatedUser<User, Claims>
{
  readonly id: string
  readonly clientId: string
  readonly tokenId: string
  readonly scopes: readonly string[]
  readonly actor: Actor | null
  readonly #source: UserSource<User>
  readonly #claims: AccessTokenClaims
  readonly #limits: ScopeLimits | null
  #record: Promise<User | null> | null = null

  constructor(
    source: UserSource<User>,
    id: string,
    { clientId, tokenId, scopes, claims }: VerifiedToken,
    limits: ScopeLimits | null,
  ) {
    this.id = id
    this.clientId = clientId
    this.tokenId = tokenId
    this.scopes = scopes
    this.actor = claims.act ?? null
    this.#source = source
    this.#claims = claims
    this.#limits = limits
  }

  get boundToKey(): boolean {
    return isBoundToKey(this.#claims)
  }

  get signIn(): CallerSignIn | null {
    const { auth_time: at, acr } = this.#claims
    if (at === undefined && acr === undefined) return null
    return { at: at === undefined ? null : new Date(at * 1000), acr: acr ?? null }
  }

  get claims(): Readonly<Partial<Claims>> {
    return pickAddedClaims(this.#claims) as Partial<Claims>
  }

  find(): Promise<User | null> {
    this.#record ??= findRecord(this.#source.users, this.id)
    return this.#record
  }

  tokenCan(scope: string): boolean {
    return this.scopeStatus(scope) === 'granted'
  }

  scopeStatus(scope: string): ScopeStatus {
    const isHeld = holdsScope(this.scopes, scope) && !this.#source.machineScopes.has(scope)
    return decideScope(isHeld, scope, this.#limits, this.#source)
  }

  scopeRefusal(scopes: readonly string[]): HttpResponse | null {
    return this.#limits?.refusal(scopes) ?? null
  }
}

/** The parts of a guard that the clients it authenticates share. */
interface ClientSource extends ScopeKinds {
  readonly findClient: GuardOptions['findClient']
}

/** A client authenticated by its own token. One instance is created per guarded request. */
class TokenClient<Claims extends object> implements AuthenticatedClient<Claims> {
  readonly clientId: string
  readonly tokenId: string
  readonly scopes: readonly string[]
  /** Bound to the client, so that it can be passed on as a function. */
  readonly tokenCan = (scope: string): boolean => this.scopeStatus(scope) === 'granted'
  readonly #source: ClientSource
  readonly #claims: AccessTokenClaims
  readonly #limits: ScopeLimits | null

  constructor(
    source: ClientSource,
    { clientId, tokenId, scopes, claims }: VerifiedToken,
    limits: ScopeLimits | null,
  ) {
    this.clientId = clientId
    this.tokenId = tokenId
    this.scopes = scopes
    this.#source = source
    this.#claims = claims
    this.#limits = limits
  }

  get boundToKey(): boolean {
    return isBoundToKey(this.#claims)
  }

  get claims(): Readonly<Partial<Claims>> {
    return pickAddedClaims(this.#claims) as Partial<Claims>
  }

  async find(): Promise<Client | null> {
    return this.#source.findClient(this.clientId)
  }

  scopeStatus(scope: string): ScopeStatus {
    const { scopes } = this
    const isMachineScope = this.#source.machineScopes.has(scope)
    const isHeld = isMachineScope ? scopes.includes(scope) : holdsScope(scopes, scope)
    return decideScope(isHeld, scope, this.#limits, this.#source)
  }

  scopeRefusal(scopes: readonly string[]): HttpResponse | null {
    return this.#limits?.refusal(scopes) ?? null
  }
}

/**
 * Builds the caller of cookie mode. The application's own page acts as the user, so the check
 * passes for every scope that a user can grant.
 */
function createCookieUser<User extends ApplicationUser, Claims extends object>(
  source: UserSource<User>,
  id: string,
  limits: ScopeLimits | null,
): AuthenticatedUser<User, Claims> {
  const { users, machineScopes } = source
  const scopeStatus = (scope: string) =>
    decideScope(!machineScopes.has(scope), scope, limits, source)
  let record: Promise<User | null> | null = null
  return {
    id,
    clientId: null,
    tokenId: null,
    scopes: [],
    actor: null,
    claims: {} as Partial<Claims>,
    tokenCan: (scope) => scopeStatus(scope) === 'granted',
    scopeStatus,
    scopeRefusal: (names) => limits?.refusal(names) ?? null,
    find() {
      record ??= findRecord(users, id)
      return record
    },
  }
}

/** Turns a synchronous result or exception of `findById()` into a promise. */
async function findRecord<User extends ApplicationUser>(
  users: Users<User>,
  id: string,
): Promise<User | null> {
  return users.findById(id)
}

const schemeOf = ({ boundToKey }: Caller): TokenScheme => (boundToKey ? 'DPoP' : 'Bearer')

/**
 * Checks that the caller has all of the scopes.
 * @throws InsufficientScope if the token lacks a scope
 * @throws ScopesWithheld if the token has them all, but limits withhold some
 */
export function assertScopes(caller: Caller, scopes: readonly string[]): void {
  if (scopes.every((name) => caller.tokenCan(name))) return
  const { missing, withheld } = sortByStatus(caller, scopes)
  if (missing.length === 0 && withheld.length === 0) return
  const message = `The token needs all of the scopes: ${scopes.join(' ')}`
  throw createScopeError(caller, message, { scopes, withheld: missing.length > 0 ? [] : withheld })
}

/**
 * Checks that the caller has at least one of the scopes.
 * @throws InsufficientScope if the token has none of them
 * @throws ScopesWithheld if limits withhold those that the token has
 */
export function assertAnyScope(caller: Caller, scopes: readonly string[]): void {
  if (scopes.some((name) => caller.tokenCan(name))) return
  const { granted, withheld } = sortByStatus(caller, scopes)
  if (granted.length > 0) return
  const message = `The token needs one of the scopes: ${scopes.join(' ')}`
  throw createScopeError(caller, message, { scopes, withheld })
}

/** Asks about each scope once, because what limits allow may change from one call to the next. */
function sortByStatus(
  caller: Caller,
  scopes: readonly string[],
): Readonly<Record<ScopeStatus, readonly string[]>> {
  const sorted: Record<ScopeStatus, string[]> = { granted: [], withheld: [], missing: [] }
  for (const name of scopes) sorted[caller.scopeStatus(name)].push(name)
  return sorted
}

/**
 * Creates the error of a failed scope check. `withheld` is empty if the token itself lacks scopes:
 * the client can then do something about it, so it gets the challenge.
 */
function createScopeError(
  caller: Caller,
  message: string,
  failed: { readonly scopes: readonly string[]; readonly withheld: readonly string[] },
): InsufficientScope | ScopesWithheld {
  const response = failed.withheld.length > 0 ? caller.scopeRefusal(failed.withheld) : null
  if (response) return new ScopesWithheld(response)
  return new InsufficientScope(message, failed.scopes, schemeOf(caller))
}
