import type { Context } from 'hono'
import type { AppEnv } from '../http/variables.ts'
import { SignInEnded, type StillHolds } from '../sessions/account-lock.ts'
import { describeBrowser } from '../sessions/describe-browser.ts'
import type { Authentication, SignedInSession } from '../sessions/sessions.ts'
import { completePendingLink } from './pending-link.ts'

/**
 * Starts a session with a new id, and ends the browser's previous session with its cookie mode
 * (threat G8). The previous session is deleted last, so that a failed attempt can be repeated.
 * @throws SignInEnded if the proof of the sign-in does not hold any more.
 */
export async function startSession(
  c: Context<AppEnv>,
  userId: string,
  authentication: Authentication,
  stillHolds: StillHolds,
): Promise<void> {
  const { service } = c.get('page')
  const cookies = c.req.header('cookie') ?? null
  const before = await service.sessions.find(cookies)
  const place = {
    address: c.get('address'),
    browser: describeBrowser(c.req.header('user-agent')),
  }
  const started = { ...authentication, ...place }
  const { sessionId, cookie } = await service.sessions.start(userId, started, stillHolds)
  if (before) {
    // After signing in again, the person stays signed in at the applications.
    if (before.userId === userId) await service.oauth.sessions.move(before.sessionId, sessionId)
    await service.oauth.endSession(before.sessionId)
  }
  await service.sessions.end(cookies)
  c.header('set-cookie', cookie, { append: true })
  await completePendingLink(c, userId, sessionId)
}

/**
 * Returns a function that runs a change in a transaction in which the session of the request cannot
 * be ended: see `Sessions.whileOpen()`. The change throws `SignInEnded` if it was ended before.
 */
export function whileSignedIn(c: Context<AppEnv>): <T>(change: () => Promise<T>) => Promise<T> {
  const { service, session } = c.get('page')
  return async (change) => {
    if (!session) throw new SignInEnded()
    return service.sessions.whileOpen(session.userId, session.sessionId, change)
  }
}

/**
 * Returns how a person counts as signed in after confirming the password in a session. The time of
 * a sign-in with two factors stays, because only one of them was proved again.
 */
export function confirmPassword({ methods, authenticatedAt }: SignedInSession): Authentication {
  return methods.includes('mfa') ? { methods, authenticatedAt } : { methods: ['pwd'] }
}
