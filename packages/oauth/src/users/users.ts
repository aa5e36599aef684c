import type { HttpRequest } from '@tollgate/http'
import { sha256 } from '../crypto.ts'
import type { UserClaims } from './claims.ts'

/** The least Tollgate needs to know of a person. */
export interface ApplicationUser {
  /** What stands in tokens as the subject. */
  readonly id: string | number
}

/** Somebody with a session in the application. */
export interface SignedIn {
  /** The user's id. */
  readonly id: string | number
  /** Lets `endSession()` end cookie mode when the person signs out. */
  readonly sessionId?: string
  /**
   * When the person last gave their password or other proof, by your clock. Needed for `prompt=login` and
   * `max_age`: without it such requests are refused.
   */
  readonly authenticatedAt?: Date
  /** How well the person has proven who they are, by names of your own; told to clients in ID tokens. */
  readonly acr?: string
  /** By which means (RFC 8176), such as `['pwd', 'otp']`; told to clients in ID tokens. */
  readonly amr?: readonly string[]
}

/** Who is signed in; nothing for nobody. */
export type CurrentUser = SignedIn | null | undefined

/** What the response has to say of the end of a session; nothing where the server alone keeps it. */
export type SignedOut =
  | {
      /** `Set-Cookie` headers, such as the one that takes the session's cookie away. */
      readonly setCookie?: string | readonly string[]
    }
  | null
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: for functions that give nothing back
  | void

/**
 * The application's own users. Tollgate never stores or sees more than these answers, each given
 * at once or promised.
 */
export interface Users<User extends ApplicationUser = ApplicationUser> {
  /** The user with this id, or null when the application no longer knows them. */
  findById(id: string): User | null | Promise<User | null>
  /**
   * Those of these ids that exist, in any order. The guard asks about everybody whose tokens are in use, once
   * a second: with this in one question, otherwise by `findById`.
   */
  findByIds?(ids: readonly string[]): readonly User[] | Promise<readonly User[]>
  /** Null for an unknown user and for a wrong password alike. Needed by the password grant. */
  findByCredentials?(username: string, password: string): User | null | Promise<User | null>
  /**
   * What clients may learn of a person, for the scopes they were granted; needed by `openid()`. More may be
   * given: standard claims are told only with their scope, or where a request names them.
   */
  claims?(user: User, scopes: readonly string[]): UserClaims | Promise<UserClaims>
  /** Who is signed in on this request. An adapter can be told instead: see AdapterOptions. */
  fromRequest?(request: Request): CurrentUser | Promise<CurrentUser>
  /**
   * Ends the session that this request belongs to: somebody signs out through a client (`openid({ logout: true })`).
   * An adapter can be told instead: see AdapterOptions.
   */
  signOut?(request: Request): SignedOut | Promise<SignedOut>
}

/** Somebody whose session the application knows. */
export interface Person {
  /** Of the user. */
  readonly id: string
  /** Hashed: the application's own may open its session to whoever reads it in our tables. */
  readonly sessionId: string | null
}

/** With the application's own session. */
export interface SignedInPerson extends Person {
  /** When they had signed in; null where the application does not say. */
  readonly authenticatedAt: Date | null
  /** How well that was proven. */
  readonly acr: string | null
  /** By what (RFC 8176). */
  readonly amr: readonly string[] | null
}

export function hashSessionId(sessionId: string): string {
  return sha256(sessionId)
}

/** Whose sessions are asked, and the address their pages have. */
export interface Application {
  readonly users: Users
  readonly issuer: string
}

export async function findSignedIn(
  application: Application,
  request: HttpRequest,
): Promise<SignedInPerson | null> {
  const found = await readSession(application, request)
  if (!found) return null
  // A third party's token is no session: with it, a client could approve itself.
  if ('tokenCan' in found) {
    throw new TypeError("signedIn must give the user of your session, not that of auth('api')")
  }
  const { id, sessionId, authenticatedAt = null, acr = null, amr = null } = found
  const name = typeof id === 'string' || typeof id === 'number' ? String(id) : ''
  if (name === '' || name.length > 255) {
    throw new TypeError(
      'The id of a signed-in user must be a number, or text of 1 to 255 characters',
    )
  }
  const isDate = authenticatedAt instanceof Date && !Number.isNaN(authenticatedAt.getTime())
  if (authenticatedAt !== null && !isDate) {
    throw new TypeError(
      'authenticatedAt of a signed-in user must be a Date: a session store that keeps JSON gives back a text, so write new Date(…)',
    )
  }
  return {
    id: name,
    sessionId: sessionId === undefined ? null : hashSessionId(sessionId),
    authenticatedAt,
    acr,
    amr,
  }
}

/** An adapter's `signedIn` has this type too: AdapterOptions says so. */
async function readSession(
  { users, issuer }: Application,
  request: HttpRequest,
): Promise<CurrentUser> {
  if (request.signedIn) return request.signedIn() as CurrentUser | Promise<CurrentUser>
  if (users.fromRequest) return users.fromRequest(request.toRequest(issuer))
  throw new TypeError('Say who is signed in: by users.fromRequest(), or by signedIn of the adapter')
}

/** The `Set-Cookie` headers that end the session in the browser too. */
export async function endOwnSession(
  { users, issuer }: Application,
  request: HttpRequest,
): Promise<readonly string[]> {
  const { setCookie = [] } = (await callSignOut(users, issuer, request)) ?? {}
  return typeof setCookie === 'string' ? [setCookie] : setCookie
}

async function callSignOut(users: Users, issuer: string, request: HttpRequest): Promise<SignedOut> {
  if (request.signOut) return (await request.signOut()) as SignedOut
  if (users.signOut) return users.signOut(request.toRequest(issuer))
  throw new TypeError('Say how a session ends: by users.signOut(), or by signOut of the adapter')
}
