import type { ServerContext } from '../../context.ts'
import type { GrantDetails } from '../../storage/details.ts'
import type { UserClaims } from '../../users/claims.ts'

/** What the application says of a person; null when it does not know them any more. */
export async function claimsOf(
  userId: string,
  scopes: readonly string[],
  details: GrantDetails | null,
  context: ServerContext,
): Promise<UserClaims | null> {
  const user = await context.users.findById(userId)
  if (!user) return null
  if (!context.users.claims) return {}
  // Of those asked for one by one, what people have approved.
  return context.users.claims(user, [...new Set([...scopes, ...(details?.alsoShown ?? [])])])
}
