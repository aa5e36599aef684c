import type { ApplicationUser } from '../users/users.ts'
import type { AuthenticatedUser } from './guard.ts'

/** Frameworks type what a guard has set as optional; behind the guard it is there. */
export function requireUser<User extends ApplicationUser>(
  user: AuthenticatedUser<User> | undefined,
): AuthenticatedUser<User> {
  if (!user) throw new Error("user() goes behind auth('api')")
  return user
}
