import type { AuthorizationServer } from '@tollgate/oauth'
import type { User } from '../users/user.ts'

const MOST_KNOWN = 10_000

/**
 * Whether a client has registered itself. People approve the scopes of such a client and nothing else, so it may not
 * learn what other tokens open by themselves. Null is cookie mode: the person itself.
 */
export function createIsStranger({
  clients,
}: AuthorizationServer<User>): (clientId: string | null) => Promise<boolean> {
  /** How a client came here never changes. */
  const known = new Map<string, boolean>()
  return async (clientId) => {
    if (clientId === null) return false
    const before = known.get(clientId)
    if (before !== undefined) return before
    const client = await clients.find(clientId)
    const isStranger = client?.settings.self_registered !== undefined
    if (known.size >= MOST_KNOWN) known.clear()
    if (client) known.set(clientId, isStranger)
    return isStranger
  }
}
