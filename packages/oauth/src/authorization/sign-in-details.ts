import { sha256 } from '../crypto.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import type { SignedInPerson } from '../users/users.ts'

/** Adds how the person has signed in, where the grant carries details at all. */
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

/** Each client knows a session by another name: the application's own would open it. */
export function sessionName(sessionId: string, clientId: string): string {
  return sha256(`${sessionId}\n${clientId}`)
}
