import type { ServerContext } from '../../context.ts'
import type { GrantDetails } from '../../storage/details.ts'
import type { UserClaims } from '../../users/claims.ts'

/**
 * Calls `users.claims()` of the application for the claims about a user. Returns `null` if the user
 * no longer exists.
 */
export async function readUserClaims(
  userId: string,
  scopes: readonly string[],
  details: GrantDetails | null,
  context: ServerContext,
): Promise<UserClaims | null> {
  const located = context.providers.locate(userId)
  const users = located?.provider.users
  const user = located && (await users?.findById(located.id))
  if (!user) return null
  if (!users?.claims) return {}
  // Passes the approved scopes of individually requested claims too.
  return users.claims(user, [...new Set([...scopes, ...(details?.alsoShown ?? [])])])
}
