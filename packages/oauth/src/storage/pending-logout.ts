import { sha256 } from '../crypto.ts'
import type { ClientSession, PendingLogout } from './records.ts'
import type { LogoutTimes } from './repositories.ts'

/**
 * Builds the pending logout notification that `SessionRepository.end()` queues for a client. Its id
 * depends only on the session, so ending a session twice notifies the client once.
 */
export function buildLogout(
  session: ClientSession,
  { dueAt, expiresAt }: LogoutTimes,
): PendingLogout {
  const { sid, clientId, userId, createdAt } = session
  const id = sha256(`${sid}\n${createdAt.getTime()}`)
  return { id, clientId, userId, sid, attempts: 0, dueAt, expiresAt }
}
