import type { AuthorizationServer } from '@tollgate/oauth'
import type { Sessions } from '../sessions/sessions.ts'
import type { User } from './user.ts'
import type { UserAccounts } from './users.ts'

interface Parts {
  readonly users: UserAccounts
  readonly sessions: Pick<Sessions, 'endAll'>
  readonly oauth: Pick<AuthorizationServer<User>, 'endSession' | 'revokeUser' | 'consents'>
}

/**
 * Ends sessions, cookies, codes, access and refresh tokens of a person on every process within a second.
 * Whoever knew an old password may hold any of them (threat G6).
 */
export async function endSignIns({ sessions, oauth }: Parts, userId: string): Promise<void> {
  for (const session of await sessions.endAll(userId)) await oauth.endSession(session)
  await oauth.revokeUser(userId)
}

export async function setPassword(parts: Parts, userId: string, password: string): Promise<void> {
  await parts.users.changePassword(userId, password)
  await endSignIns(parts, userId)
}

/** The account stays, with all that belongs to it, and nobody gets in. */
export async function disableAccount(parts: Parts, userId: string): Promise<void> {
  // First, so that nothing can begin after the rest has ended.
  await parts.users.setDisabled(userId, true)
  await endSignIns(parts, userId)
}

/** Whatever slipped in while the account was being disabled does not come back with it. */
export async function enableAccount(parts: Parts, userId: string): Promise<void> {
  await endSignIns(parts, userId)
  await parts.users.setDisabled(userId, false)
}

/** For good. May be repeated after a crash half way. */
export async function deleteAccount(parts: Parts, userId: string): Promise<void> {
  await disableAccount(parts, userId)
  for (const { clientId } of await parts.oauth.consents.listByUser(userId)) {
    await parts.oauth.consents.revoke(userId, clientId)
  }
  await parts.users.delete(userId)
}
