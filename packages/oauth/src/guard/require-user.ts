import type { ApplicationUser } from '../users/users.ts'
import type { AuthenticatedUser } from './guard.ts'

/**
 * Returns the user that the guard has set, which frameworks type as optional.
 * @throws Error if the route has no guard
 */
export function requireUser<User extends ApplicationUser, Claims extends object>(
  user: AuthenticatedUser<User, Claims> | undefined,
): AuthenticatedUser<User, Claims> {
  if (!user) throw new Error("Use user() after auth('api')")
  return user
}
