import type { HttpRequest } from '@tollgate/http'
import { sha256 } from '../crypto.ts'
import { buildOwnerKey, type UserProvider, type UserProviders } from './providers.ts'
import type { CurrentUser, SignedIn, SignedOut, Users } from './users.ts'

/** A user with a session of the application. */
export interface Person {
  /** Owner key of the user: `provider/id`, or the plain id if there is a single user provider. */
  readonly id: string
  /**
   * Hash of the application's session id. The id itself is not kept, because it might give access
   * to the session. `null` if the application does not provide one.
   */
  readonly sessionId: string | null
}

/** The user of the current request, as reported by the application. */
export interface SignedInPerson extends Person {
  /** When the user authenticated. `null` if the application does not provide it. */
  readonly authenticatedAt: Date | null
  /**
   * Authentication context class (`acr`) of the sign-in. `null` if the application does not provide
   * it.
   */
  readonly acr: string | null
  /** Authentication methods (RFC 8176). `null` if the application does not provide them. */
  readonly amr: readonly string[] | null
}

export function hashSessionId(sessionId: string): string {
  return sha256(sessionId)
}

/** The parts of the server that are needed to find the signed-in user. */
export interface SignInContext {
  readonly providers: UserProviders
  readonly issuer: string
}

/**
 * Finds the signed-in user. If there are several user providers, asks the one with the name
 * `requiredProviderName`; without a name, asks each and takes the first signed-in user. An
 * adapter's `signedIn` ignores this name, so callers must compare the provider.
 * @throws TypeError if the application returns an invalid user
 */
export async function findSignedIn(
  application: SignInContext,
  request: HttpRequest,
  requiredProviderName?: string,
): Promise<SignedInPerson | null> {
  const session = await readSession(application, request, requiredProviderName)
  if (!session) return null
  const { found, provider } = session
  // Rejects the user of a bearer token: a client could otherwise approve its own requests with its
  // token.
  if ('tokenCan' in found) {
    throw new TypeError(
      "signedIn must return the user of your session, not the user of auth('api')",
    )
  }
  const { id, sessionId, authenticatedAt = null, acr = null, amr = null } = found
  const isId = (typeof id === 'string' && id !== '') || typeof id === 'number'
  const name = isId ? buildOwnerKey(provider, id) : ''
  if (name === '' || name.length > 255) {
    throw new TypeError(
      'The id of a signed-in user must be a number, or text of 1 to 255 characters',
    )
  }
  const isDate = authenticatedAt instanceof Date && !Number.isNaN(authenticatedAt.getTime())
  if (authenticatedAt !== null && !isDate) {
    throw new TypeError(
      'authenticatedAt of a signed-in user must be a Date. If your session store returns JSON, convert the string with new Date(…)',
    )
  }
  return {
    id: name,
    sessionId: sessionId === undefined ? null : hashSessionId(buildOwnerKey(provider, sessionId)),
    authenticatedAt,
    acr,
    amr,
  }
}

interface Session {
  readonly found: SignedIn
  readonly provider: UserProvider
}

async function readSession(
  { providers, issuer }: SignInContext,
  request: HttpRequest,
  wanted?: string,
): Promise<Session | null> {
  if (request.signedIn) {
    // The type is guaranteed by AdapterOptions.
    const found = (await request.signedIn()) as CurrentUser
    return found ? { found, provider: providerOf(found, providers) } : null
  }
  const preferred = wanted === undefined ? null : providers.find(wanted)
  const asked = (preferred ? [preferred] : providers.all).filter(({ users }) => users.fromRequest)
  if (asked.length === 0) {
    throw new TypeError(
      'The signed-in user cannot be determined: implement users.fromRequest(), or pass signedIn to the adapter',
    )
  }
  for (const provider of asked) {
    const found = await provider.users.fromRequest?.(request.toRequest(issuer))
    if (found) return { found, provider }
  }
  return null
}

function providerOf({ provider: name }: SignedIn, providers: UserProviders): UserProvider {
  const [first] = providers.all
  if (first?.name === null) return first
  const found = name === undefined ? null : providers.find(name)
  if (found) return found
  const names = providers.all.map((each) => each.name).join(', ')
  throw new TypeError(`signedIn must name the user provider of the user: one of ${names}`)
}

/**
 * Ends the user's session in the application and returns the `Set-Cookie` headers for the browser.
 */
export async function endApplicationSession(
  { providers, issuer }: SignInContext,
  request: HttpRequest,
  { id }: Person,
): Promise<readonly string[]> {
  const users = providers.locate(id)?.provider.users
  const { setCookie = [] } = (await callSignOut(users, issuer, request)) ?? {}
  return typeof setCookie === 'string' ? [setCookie] : setCookie
}

async function callSignOut(
  users: Users | undefined,
  issuer: string,
  request: HttpRequest,
): Promise<SignedOut> {
  if (request.signOut) return (await request.signOut()) as SignedOut
  if (users?.signOut) return users.signOut(request.toRequest(issuer))
  throw new TypeError(
    'The session cannot be ended: implement users.signOut(), or pass signOut to the adapter',
  )
}
