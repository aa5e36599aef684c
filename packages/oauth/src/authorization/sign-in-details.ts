import { sha256 } from '../crypto.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import type { SignedInPerson } from '../users/signed-in.ts'

/** Adds how the person signed in, if the grant has details. */
export function withSignIn(
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
        sid: sessionName(sessionId, client.id),
        session: sessionId,
      }),
      ...(acr !== null && { acr }),
      ...(amr !== null && { amr }),
    },
  }
}

/**
 * Returns the session id for one client. Each client gets a different one: the application's own id
 * would give access to the session.
 */
export function sessionName(sessionId: string, clientId: string): string {
  return sha256(`${sessionId}\n${clientId}`)
}
