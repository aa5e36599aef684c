import { InsufficientScope, InvalidToken, type OAuthError } from '../errors.ts'
import type { Reply } from '../http/exchange.ts'
import { errorReply } from '../http/replies.ts'
import { holdsScope } from '../scopes.ts'
import type { TokenVerifier, VerifiedToken } from '../tokens/verify.ts'
import type { UserRecord, Users } from '../users.ts'
import type { CookieMode } from './cookie-mode.ts'

/** What a guard reads of a request, so that adapters need not build a Request for it. */
export interface Credentials {
  readonly authorization: string | null | undefined
  readonly cookie: string | null | undefined
  readonly csrfToken: string | null | undefined
}

/** The caller of a guarded route. */
export interface Caller {
  /** Null for cookie mode: the person itself, through no client. */
  readonly clientId: string | null
  /** Null for cookie mode. */
  readonly tokenId: string | null
  readonly scopes: readonly string[]
  /** Whether the token holds the scope. Always true in cookie mode. */
  tokenCan(scope: string): boolean
}

export interface AuthenticatedUser<User extends UserRecord = UserRecord> extends Caller {
  readonly id: string
  /** The application's own record, read once and only when asked for. */
  find(): Promise<User | null>
}

export interface AuthenticatedClient extends Caller {
  readonly clientId: string
}

/** `api`: a user, by bearer token or cookie mode. `client`: a client that acts for itself. */
export interface GuardResults<User extends UserRecord = UserRecord> {
  api: AuthenticatedUser<User>
  client: AuthenticatedClient
}

export type GuardName = keyof GuardResults

type Maybe<T> = T | Promise<T>

export interface Guard<User extends UserRecord = UserRecord> {
  /** Who calls, or InvalidToken. Answers without a promise for a token seen before. */
  authenticate<Name extends GuardName>(
    name: Name,
    credentials: Credentials,
  ): Maybe<GuardResults<User>[Name]>
  /** The answer for whatever authenticate() or a scope check has thrown. */
  refusal(error: unknown): Reply
}

export interface GuardOptions {
  readonly verifier: TokenVerifier
  readonly cookies: CookieMode
  readonly users: Users
  /** Null once keys and revocations are loaded. */
  readonly ready: () => Promise<void> | null
  readonly publicError: (thrown: unknown) => OAuthError
}

export function createGuard<User extends UserRecord>(options: GuardOptions): Guard<User> {
  const { verifier, cookies } = options
  const users = options.users as Users<User>

  function userOf(token: VerifiedToken): AuthenticatedUser<User> {
    if (token.subject.kind !== 'user') {
      throw new InvalidToken('The access token does not belong to a user')
    }
    return authenticatedUser(users, token.subject.id, callerOf(token))
  }

  function clientOf(token: VerifiedToken): AuthenticatedClient {
    if (token.subject.kind !== 'client') {
      throw new InvalidToken('The access token does not belong to a client acting for itself')
    }
    return callerOf(token)
  }

  async function cookieUser(credentials: Credentials): Promise<AuthenticatedUser<User>> {
    const found = await cookies.authenticate(credentials.cookie, credentials.csrfToken)
    if (!found) throw new InvalidToken('No access token was sent', { presented: false })
    return authenticatedUser(users, found.userId, THE_PERSON_ITSELF)
  }

  function bearerOrThrow(credentials: Credentials): string {
    const text = parseBearer(credentials.authorization)
    if (text !== null) return text
    throw new InvalidToken('No access token was sent', { presented: false })
  }

  const guards: { [Name in GuardName]: (c: Credentials) => Maybe<GuardResults<User>[Name]> } = {
    api(credentials) {
      const text = parseBearer(credentials.authorization)
      if (text === null) return cookieUser(credentials)
      const token = verifier.verify(text)
      return token instanceof Promise ? token.then(userOf) : userOf(token)
    },
    client(credentials) {
      const token = verifier.verify(bearerOrThrow(credentials))
      return token instanceof Promise ? token.then(clientOf) : clientOf(token)
    },
  }

  return {
    authenticate(name, credentials) {
      const starting = options.ready()
      return starting ? starting.then(() => guards[name](credentials)) : guards[name](credentials)
    },
    refusal: (error) => errorReply(options.publicError(error)),
  }
}

/** RFC 6750 §2.1: one token after a scheme in any letter case. Null without the header. */
export function parseBearer(header: string | null | undefined): string | null {
  if (header === null || header === undefined) return null
  const [, token] = /^bearer ([\w.~+/=-]+)$/i.exec(header) ?? []
  if (token) return token
  throw new InvalidToken('The Authorization header must be: Bearer <token>')
}

function callerOf(token: VerifiedToken) {
  const { clientId, tokenId, scopes } = token
  return { clientId, tokenId, scopes, tokenCan: (scope: string) => holdsScope(scopes, scope) }
}

/** Cookie mode: the application's own page acts as the user itself, so that every scope passes. */
const THE_PERSON_ITSELF: Caller = {
  clientId: null,
  tokenId: null,
  scopes: [],
  tokenCan: () => true,
}

function authenticatedUser<User extends UserRecord>(
  users: Users<User>,
  id: string,
  caller: Caller,
): AuthenticatedUser<User> {
  let record: Promise<User | null> | null = null
  return {
    ...caller,
    id,
    find() {
      record ??= users.findById(id)
      return record
    },
  }
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
