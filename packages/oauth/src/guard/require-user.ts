import type { ApplicationUser } from '../users/users.ts'
import type { AuthenticatedUser } from './guard.ts'

/** Frameworks type what a guard has set as optional; behind the guard it is there. */
export function requireUser<User extends ApplicationUser, Claims extends object>(
  user: AuthenticatedUser<User, Claims> | undefined,
): AuthenticatedUser<User, Claims> {
  if (!user) throw new Error("user() goes behind auth('api')")
  return user
}
