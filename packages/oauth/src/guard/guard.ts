import type { HttpResponse } from '@tollgate/http'
import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import { InsufficientScope, InvalidToken, type OAuthError } from '../errors.ts'
import { errorResponse } from '../http/responses.ts'
import { holdsScope } from '../scopes.ts'
import type { Actor } from '../storage/details.ts'
import { isFor } from '../tokens/formats/claims.ts'
import type { ApplicationUser, Users } from '../users/users.ts'
import type { CookieMode } from './cookie-mode.ts'
import type { TokenVerifier, VerifiedToken } from './verify.ts'

/** What a guard reads of a request, so that adapters need not build a Request for it. */
export interface GuardCredentials {
  /** The `Authorization` header. */
  readonly authorization: string | null | undefined
  /** The `Cookie` header. */
  readonly cookie: string | null | undefined
  /** The `X-CSRF-TOKEN` header, which cookie mode wants. */
  readonly csrfToken: string | null | undefined
}

/** The caller of a guarded route. */
export interface Caller {
  /** Null for cookie mode: the person itself, through no client. */
  readonly clientId: string | null
  /** Null for cookie mode. */
  readonly tokenId: string | null
  /** What the token was granted; empty in cookie mode, which may do everything. */
  readonly scopes: readonly string[]
  /** Whether the token holds the scope. Always true in cookie mode. */
  tokenCan(scope: string): boolean
}

/** The user behind a request, and what their token may do. */
export interface AuthenticatedUser<User extends ApplicationUser = ApplicationUser> extends Caller {
  /** The user's id. */
  readonly id: string
  /** Who acts for the user (RFC 8693 §4.1), the last one outermost; null when nobody else does. */
  readonly actor: Actor | null
  /** The application's own record, read once and only when asked for. */
  find(): Promise<User | null>
}

/** A client that calls for itself, through client credentials. */
export interface AuthenticatedClient extends Caller {
  readonly clientId: string
}

/** `api`: a user, by bearer token or cookie mode. `client`: a client that acts for itself. */
export interface GuardResults<User extends ApplicationUser = ApplicationUser> {
  /** A user, by a token or by cookie mode. */
  api: AuthenticatedUser<User>
  /** A client, by client credentials. */
  client: AuthenticatedClient
}

/** `api` for users, `client` for clients that call for themselves. */
export type GuardName = keyof GuardResults

/** Decides who calls, and whether they may. */
export interface Guard<User extends ApplicationUser = ApplicationUser> {
  /** Who calls, or InvalidToken. Answers without a promise for a token seen before. */
  authenticate<Name extends GuardName>(
    name: Name,
    credentials: GuardCredentials,
  ): Awaitable<GuardResults<User>[Name]>
  /** The answer for whatever authenticate() or a scope check has thrown. */
  refusal(error: unknown): HttpResponse
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
}

/** RFC 9728 §5.1. */
export interface GuardAdvice {
  readonly metadataUrl: string
  readonly scopesToAskFor: readonly string[]
}

export function createGuard<User extends ApplicationUser>(options: GuardOptions): Guard<User> {
  const { verifier, cookies } = options
  const users = options.users as Users<User>

  function assertAudience({ claims }: VerifiedToken): void {
    if (!isFor(options.audience, claims))
      throw new InvalidToken('The access token is for another API')
  }

  function userOf(token: VerifiedToken): AuthenticatedUser<User> {
    assertAudience(token)
    if (token.subject.kind === 'user') return new TokenUser(users, token)
    throw new InvalidToken('The access token does not belong to a user')
  }

  function clientOf(token: VerifiedToken): AuthenticatedClient {
    assertAudience(token)
    if (token.subject.kind !== 'client') {
      throw new InvalidToken('The access token does not belong to a client acting for itself')
    }
    const { clientId, tokenId, scopes } = token
    return { clientId, tokenId, scopes, tokenCan: (scope) => holdsScope(scopes, scope) }
  }

  async function cookieUser(credentials: GuardCredentials): Promise<AuthenticatedUser<User>> {
    const found = await cookies.authenticate(credentials.cookie, credentials.csrfToken)
    if (!found) throw nothingSent()
    return createCookieUser(users, found.userId)
  }

  const guards: {
    [Name in GuardName]: (c: GuardCredentials) => Awaitable<GuardResults<User>[Name]>
  } = {
    api(credentials) {
      const header = credentials.authorization
      if (typeof header !== 'string') return cookieUser(credentials)
      return mapAwaitable(verifier.verifyHeader(header), userOf)
    },
    client({ authorization }) {
      if (typeof authorization !== 'string') throw nothingSent()
      return mapAwaitable(verifier.verifyHeader(authorization), clientOf)
    },
  }

  return {
    authenticate(name, credentials) {
      const starting = options.ready()
      return starting ? starting.then(() => guards[name](credentials)) : guards[name](credentials)
    },
    refusal: (error) => withAdvice(errorResponse(options.publicError(error)), options.advice),
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
class TokenUser<User extends ApplicationUser> implements AuthenticatedUser<User> {
  readonly id: string
  readonly clientId: string
  readonly tokenId: string
  readonly scopes: readonly string[]
  readonly actor: Actor | null
  readonly #users: Users<User>
  #record: Promise<User | null> | null = null

  constructor(users: Users<User>, { subject, clientId, tokenId, scopes, claims }: VerifiedToken) {
    this.id = subject.id
    this.clientId = clientId
    this.tokenId = tokenId
    this.scopes = scopes
    this.actor = claims.act ?? null
    this.#users = users
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
function createCookieUser<User extends ApplicationUser>(
  users: Users<User>,
  id: string,
): AuthenticatedUser<User> {
  let record: Promise<User | null> | null = null
  return {
    id,
    clientId: null,
    tokenId: null,
    scopes: [],
    actor: null,
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

/** All of the scopes named. */
export function assertScopes(caller: Caller, scopes: readonly string[]): void {
  if (scopes.every((name) => caller.tokenCan(name))) return
  throw new InsufficientScope(`The token needs all of the scopes: ${scopes.join(' ')}`, scopes)
}

/** At least one of the scopes named. */
export function assertAnyScope(caller: Caller, scopes: readonly string[]): void {
  if (scopes.some((name) => caller.tokenCan(name))) return
  throw new InsufficientScope(`The token needs one of the scopes: ${scopes.join(' ')}`, scopes)
}
