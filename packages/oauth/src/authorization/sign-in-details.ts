import { sha256 } from '../crypto.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import type { SignedInPerson } from '../users/signed-in.ts'

/**
 * Adds the time and method of the sign-in to the details of a grant. Returns `null` if `details` is
 * `null`.
 */
export function addSignInDetails(
  details: GrantDetails | null,
  person: SignedInPerson,
  client: Client,
): GrantDetails | null {
  if (details === null) return null
  const { authenticatedAt, sessionId, acr, amr } = person
  return {
    ...details,
    signIn: {
      ...(authenticatedAt && { at: Math.floor(authenticatedAt.getTime() / 1000) }),
      ...(sessionId !== null && {
        sid: deriveClientSessionId(sessionId, client.id),
        session: sessionId,
      }),
      ...(acr !== null && { acr }),
      ...(amr !== null && { amr }),
    },
  }
}

/**
 * Derives the session id (`sid`) that one client gets for a session of the application. Each client
 * gets a different one. The application's own session id is not used, because it would give access
 * to the session.
 */
export function deriveClientSessionId(sessionId: string, clientId: string): string {
  return sha256(`${sessionId}\n${clientId}`)
}
