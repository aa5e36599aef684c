import { sha256 } from '../crypto.ts'
import type { ClientSession, PendingLogout } from './records.ts'
import type { LogoutTimes } from './repositories.ts'

/** What `SessionRepository.end()` puts into the queue. The same whoever ends the session, however often: two who do it at once tell the client once. */
export function logoutOf(session: ClientSession, { dueAt, expiresAt }: LogoutTimes): PendingLogout {
  const { sid, clientId, userId, createdAt } = session
  const id = sha256(`${sid}\n${createdAt.getTime()}`)
  return { id, clientId, userId, sid, attempts: 0, dueAt, expiresAt }
}
