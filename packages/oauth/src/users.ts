import { sha256 } from './crypto.ts'
import type { HttpRequest } from './http/exchange.ts'

/** The least Tollgate needs to know of a person. */
export interface UserRecord {
  readonly id: string | number
}

/** Somebody with a session in the application. */
export interface SignedIn {
  readonly id: string | number
  /** Lets `endSession()` end cookie mode when the person signs out. */
  readonly sessionId?: string
}

/** The application's own users. Tollgate never stores or sees more than these three answers. */
export interface Users<User extends UserRecord = UserRecord> {
  findById(id: string): Promise<User | null>
  /** Null for an unknown user and for a wrong password alike. Needed by the password grant. */
  findByCredentials?(username: string, password: string): Promise<User | null>
  /** Who is signed in on this request; null for nobody. */
  fromRequest(request: Request): Promise<SignedIn | null>
}

export interface Person {
  readonly id: string
  /** Hashed: the application's own may open its session to whoever reads it in our tables. */
  readonly sessionId: string | null
}

export function hashSessionId(sessionId: string): string {
  return sha256(sessionId)
}

export async function findSignedIn(users: Users, request: HttpRequest): Promise<Person | null> {
  const found = await users.fromRequest(request.toRequest())
  if (!found) return null
  const id = String(found.id)
  if (id === '' || id.length > 255) {
    throw new TypeError('users.fromRequest() must return an id of 1 to 255 characters')
  }
  const { sessionId } = found
  return { id, sessionId: sessionId === undefined ? null : hashSessionId(sessionId) }
}
