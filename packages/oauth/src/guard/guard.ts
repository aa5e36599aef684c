import type { HttpResponse } from '@tollgate/http'
import type { Awaitable } from '../awaitable.ts'
import type { Clock } from '../clock.ts'
import { InsufficientScope, InvalidToken, type OAuthError, type TokenScheme } from '../errors.ts'
import { errorResponse } from '../http/responses.ts'
import { holdsScope } from '../scopes.ts'
import type { Actor } from '../storage/details.ts'
import { type AccessTokenClaims, addedClaims, isBound, isFor } from '../tokens/formats/claims.ts'
import type { AddedClaims } from '../tokens/formats/claims-hook.ts'
import type { ApplicationUser, Users } from '../users/users.ts'
import { withKeyChallenge } from './challenge.ts'
import type { CookieMode } from './cookie-mode.ts'
import type { GuardProofs } from './key-proof.ts'
import { type CallerSignIn, type StepUpDemand, signInCheck } from './step-up.ts'
import type { TokenVerifier, VerifiedToken } from './verify.ts'

/** What a guard reads of a request, so that adapters need not build a Request for it. */
export interface GuardCredentials {
  /** The `Authorization` header. */
  readonly authorization: string | null | undefined
  /** The `Cookie` header. */
  readonly cookie: string | null | undefined
  /** The `X-CSRF-TOKEN` header, which cookie mode wants. */
  readonly csrfToken: string | null | undefined
  /** The `DPoP` header, which a token that is bound to a key wants (RFC 9449), and what its proof is about. */
  readonly dpop?: string | null | undefined
  /** The method of the request, in capital letters. */
  readonly method?: string | undefined
  /** The path of the request, as it was sent and without the query. */
  readonly path?: string | undefined
}

/** The caller of a guarded route. */
export interface Caller<Claims extends object = AddedClaims> {
  /** Null for cookie mode: the person itself, through no client. */
  readonly clientId: string | null
  /** Null for cookie mode. */
  readonly tokenId: string | null
  /** What the token was granted; empty in cookie mode, which may do everything. */
  readonly scopes: readonly string[]
  /** Whether the token holds the scope. Always true in cookie mode. */
  tokenCan(scope: string): boolean
  /** Whether the token is bound to a key that the caller has proven to hold. */
  readonly boundToKey?: boolean
  /** The sign-in behind the token, where it says something of it (`stepUp()`). */
  readonly signIn?: CallerSignIn | null
  /**
   * What the application has added to the token (`accessTokenClaims`), as it was when the token was issued. Tokens from before
   * the option was given have none; so has cookie mode.
   */
  readonly claims: Readonly<Partial<Claims>>
}

/** The user behind a request, and what their token may do. */
export interface AuthenticatedUser<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> extends Caller<Claims> {
  /** The user's id. */
  readonly id: string
  /** Who acts for the user (RFC 8693 §4.1), the last one outermost; null when nobody else does. */
  readonly actor: Actor | null
  /** The application's own record, read once and only when asked for. */
  find(): Promise<User | null>
}

/** A client that calls for itself, through client credentials. */
export interface AuthenticatedClient<Claims extends object = AddedClaims> extends Caller<Claims> {
  readonly clientId: string
}

/** `api`: a user, by bearer token or cookie mode. `client`: a client that acts for itself. */
export interface GuardResults<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /** A user, by a token or by cookie mode. */
  api: AuthenticatedUser<User, Claims>
  /** A client, by client credentials. */
  client: AuthenticatedClient<Claims>
}

/** `api` for users, `client` for clients that call for themselves. */
export type GuardName = keyof GuardResults

/** Decides who calls, and whether they may. */
export interface Guard<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /** Who calls, or InvalidToken. Answers without a promise for a token seen before. */
  authenticate<Name extends GuardName>(
    name: Name,
    credentials: GuardCredentials,
  ): Awaitable<GuardResults<User, Claims>[Name]>
  /** The answer for whatever authenticate() or a scope check has thrown. */
  refusal(error: unknown): HttpResponse
  /** A check of the sign-in behind a token (RFC 9470). A TypeError unless `stepUp()` is among the features. */
  stepUp(demand: StepUpDemand): (caller: Caller) => void
}

export interface GuardOptions {
  readonly verifier: TokenVerifier
  readonly cookies: CookieMode
  readonly users: Users
  /** Null once keys and revocations are loaded. */
  readonly ready: () => Promise<void> | null
  readonly publicError: (thrown: unknown) => OAuthError
  /** `aud` of the tokens it lets in. */
  readonly audience: string
  /** What callers without a good token are told besides; null where the API has no metadata. */
  readonly advice: GuardAdvice | null
  /** Null where nobody checks proofs: then bound tokens are refused. */
  readonly proofs: GuardProofs | null
  /** Whether tokens say something of the sign-in. */
  readonly tellsSignIn: boolean
  readonly clock: Clock
}

/** RFC 9728 §5.1. */
export interface GuardAdvice {
  readonly metadataUrl: string
  readonly scopesToAskFor: readonly string[]
}

export function createGuard<User extends ApplicationUser, Claims extends object>(
  options: GuardOptions,
): Guard<User, Claims> {
  const { verifier, cookies, proofs } = options
  const users = options.users as Users<User>

  function assertAudience({ claims }: VerifiedToken): void {
    if (!isFor(options.audience, claims))
      throw new InvalidToken('The access token is for another API')
  }

  function userOf(token: VerifiedToken): AuthenticatedUser<User, Claims> {
    assertAudience(token)
    if (token.subject.kind === 'user') return new TokenUser(users, token)
    throw new InvalidToken('The access token does not belong to a user')
  }

  function clientOf(token: VerifiedToken): AuthenticatedClient<Claims> {
    assertAudience(token)
    if (token.subject.kind !== 'client') {
      throw new InvalidToken('The access token does not belong to a client acting for itself')
    }
    const { clientId, tokenId, scopes } = token
    const boundToKey = isBound(token.claims)
    return {
      clientId,
      tokenId,
      scopes,
      boundToKey,
      tokenCan: (scope) => holdsScope(scopes, scope),
      get claims() {
        return addedClaims(token.claims) as Partial<Claims>
      },
    }
  }

  /** Without a promise where the verdict is at hand and the token is not bound. */
  function admit<Result>(
    header: string,
    credentials: GuardCredentials,
    callerOf: (token: VerifiedToken) => Result,
  ): Awaitable<Result> {
    const found = verifier.verifyHeader(header)
    if (found instanceof Promise) {
      return found.then((token) =>
        isBound(token.claims) ? requireKey(token, header, credentials, callerOf) : callerOf(token),
      )
    }
    return isBound(found.claims)
      ? requireKey(found, header, credentials, callerOf)
      : callerOf(found)
  }

  /** Each time anew, also for a token seen before: that is what it is bound for. The proof is looked at last. */
  async function requireKey<Result>(
    token: VerifiedToken,
    header: string,
    { dpop = null, method = '', path = '' }: GuardCredentials,
    callerOf: (token: VerifiedToken) => Result,
  ): Promise<Result> {
    const caller = callerOf(token)
    const key = token.claims.cnf?.jkt
    if (!proofs || key === undefined) {
      throw new InvalidToken('The access token is bound to a key, and no proof is taken here')
    }
    const accessToken = header.slice(header.indexOf(' ') + 1)
    const { origins } = proofs
    await proofs.check({ proof: dpop, method, path, origins, accessToken, key })
    return caller
  }

  async function cookieUser(
    credentials: GuardCredentials,
  ): Promise<AuthenticatedUser<User, Claims>> {
    const found = await cookies.authenticate(credentials.cookie, credentials.csrfToken)
    if (!found) throw nothingSent()
    return createCookieUser(users, found.userId)
  }

  const guards: {
    [Name in GuardName]: (c: GuardCredentials) => Awaitable<GuardResults<User, Claims>[Name]>
  } = {
    api(credentials) {
      const header = credentials.authorization
      if (typeof header !== 'string') return cookieUser(credentials)
      return admit(header, credentials, userOf)
    },
    client(credentials) {
      const header = credentials.authorization
      if (typeof header !== 'string') throw nothingSent()
      return admit(header, credentials, clientOf)
    },
  }

  return {
    authenticate(name, credentials) {
      const starting = options.ready()
      return starting ? starting.then(() => guards[name](credentials)) : guards[name](credentials)
    },
    refusal: (error) =>
      withKeyChallenge(
        withAdvice(errorResponse(options.publicError(error)), options.advice),
        proofs?.algorithms,
      ),
    stepUp(demand) {
      if (options.tellsSignIn) return signInCheck(demand, options.clock)
      throw new TypeError('stepUp() as a check needs stepUp() in features: tokens say nothing else')
    },
  }
}

/** Names the metadata of the API, by which a client finds out where to get a token. */
function withAdvice(response: HttpResponse, advice: GuardAdvice | null): HttpResponse {
  const challenge = response.headers?.['www-authenticate']
  if (!advice || challenge === undefined) return response
  const { metadataUrl, scopesToAskFor } = advice
  const scope =
    response.status === 401 && scopesToAskFor.length > 0
      ? `, scope="${scopesToAskFor.join(' ')}"`
      : ''
  const told = `${challenge}${scope}, resource_metadata="${metadataUrl}"`
  return { ...response, headers: { ...response.headers, 'www-authenticate': told } }
}

function nothingSent(): InvalidToken {
  return new InvalidToken('No access token was sent', { presented: false })
}

/** A class, because one is made for every guarded request. It extends none: `super()` would take longer than the rest. */
class TokenUser<User extends ApplicationUser, Claims extends object>
  implements AuthenticatedUser<User, Claims>
{
  readonly id: string
  readonly clientId: string
  readonly tokenId: string
  readonly scopes: readonly string[]
  readonly actor: Actor | null
  readonly #users: Users<User>
  readonly #claims: AccessTokenClaims
  #record: Promise<User | null> | null = null

  constructor(users: Users<User>, { subject, clientId, tokenId, scopes, claims }: VerifiedToken) {
    this.id = subject.id
    this.clientId = clientId
    this.tokenId = tokenId
    this.scopes = scopes
    this.actor = claims.act ?? null
    this.#users = users
    this.#claims = claims
  }

  get boundToKey(): boolean {
    return isBound(this.#claims)
  }

  get signIn(): CallerSignIn | null {
    const { auth_time: at, acr } = this.#claims
    if (at === undefined && acr === undefined) return null
    return { at: at === undefined ? null : new Date(at * 1000), acr: acr ?? null }
  }

  get claims(): Readonly<Partial<Claims>> {
    return addedClaims(this.#claims) as Partial<Claims>
  }

  find(): Promise<User | null> {
    this.#record ??= findRecord(this.#users, this.id)
    return this.#record
  }

  tokenCan(scope: string): boolean {
    return holdsScope(this.scopes, scope)
  }
}

/** Cookie mode: the application's own page acts as the user itself, so every scope passes. */
function createCookieUser<User extends ApplicationUser, Claims extends object>(
  users: Users<User>,
  id: string,
): AuthenticatedUser<User, Claims> {
  let record: Promise<User | null> | null = null
  return {
    id,
    clientId: null,
    tokenId: null,
    scopes: [],
    actor: null,
    claims: {} as Partial<Claims>,
    tokenCan: () => true,
    find() {
      record ??= findRecord(users, id)
      return record
    },
  }
}

/** The application may answer at once, and may throw at once. */
async function findRecord<User extends ApplicationUser>(
  users: Users<User>,
  id: string,
): Promise<User | null> {
  return users.findById(id)
}

const schemeOf = ({ boundToKey }: Caller): TokenScheme => (boundToKey ? 'DPoP' : 'Bearer')

/** All of the scopes named. */
export function assertScopes(caller: Caller, scopes: readonly string[]): void {
  if (scopes.every((name) => caller.tokenCan(name))) return
  const message = `The token needs all of the scopes: ${scopes.join(' ')}`
  throw new InsufficientScope(message, scopes, schemeOf(caller))
}

/** At least one of the scopes named. */
export function assertAnyScope(caller: Caller, scopes: readonly string[]): void {
  if (scopes.some((name) => caller.tokenCan(name))) return
  const message = `The token needs one of the scopes: ${scopes.join(' ')}`
  throw new InsufficientScope(message, scopes, schemeOf(caller))
}
