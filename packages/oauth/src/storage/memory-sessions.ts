import { buildLogout } from './pending-logout.ts'
import type { ClientSession, PendingLogout, SessionSelector } from './records.ts'
import type { LogoutRepository, SessionRepository } from './repositories.ts'

/** Stores the sessions and logouts of `memoryStorage()`. */
export function createMemorySessions(): {
  readonly sessions: SessionRepository
  readonly logouts: LogoutRepository
  purge(before: Date, limit: number): number
} {
  const bySid = new Map<string, ClientSession>()
  const queue = new Map<string, PendingLogout>()

  const sessions: SessionRepository = {
    async add(session) {
      if (bySid.has(session.sid)) return false
      bySid.set(session.sid, session)
      return true
    },
    async touch(sid, seenAt, liveUntil) {
      const session = bySid.get(sid)
      if (session) bySid.set(sid, { ...session, seenAt, liveUntil })
    },
    find: async (sid) => bySid.get(sid) ?? null,
    listByUser: async (userId) =>
      [...bySid.values()]
        .filter((session) => session.userId === userId)
        .sort((a, b) => +b.seenAt - +a.seenAt || (a.sid < b.sid ? -1 : 1)),
    async move(before, after) {
      for (const [sid, session] of bySid) {
        if (session.sessionId === before) bySid.set(sid, { ...session, sessionId: after })
      }
    },
    async end(selector, when, limit) {
      const ending = [...bySid.values()].filter((each) => matches(each, selector)).slice(0, limit)
      for (const session of ending) {
        const logout = buildLogout(session, when)
        if (!queue.has(logout.id)) queue.set(logout.id, logout)
        bySid.delete(session.sid)
      }
      return ending.length
    },
  }

  const logouts: LogoutRepository = {
    listDue: async (at, limit, exceptOf = []) =>
      [...queue.values()]
        .filter(({ dueAt, expiresAt }) => dueAt <= at && expiresAt > at)
        .filter(({ clientId }) => !exceptOf.includes(clientId))
        .sort((a, b) => +a.dueAt - +b.dueAt)
        .slice(0, limit),
    async claim({ id, attempts, dueAt }, next) {
      const found = queue.get(id)
      if (found?.attempts !== attempts || +found.dueAt !== +dueAt) return false
      queue.set(id, { ...found, attempts: attempts + 1, dueAt: next })
      return true
    },
    async postpone(clientId, next) {
      for (const [id, logout] of queue) {
        if (logout.clientId === clientId && logout.dueAt < next) {
          queue.set(id, { ...logout, dueAt: next })
        }
      }
    },
    async remove(id) {
      queue.delete(id)
    },
  }

  function purge(before: Date, limit: number): number {
    const overSessions = [...bySid.values()].filter((each) => each.liveUntil < before)
    const overLogouts = [...queue.values()].filter((each) => each.expiresAt < before)
    const doomed = [overSessions.slice(0, limit), overLogouts.slice(0, limit)] as const
    for (const { sid } of doomed[0]) bySid.delete(sid)
    for (const { id } of doomed[1]) queue.delete(id)
    return doomed[0].length + doomed[1].length
  }

  return { sessions, logouts, purge }
}

function matches(session: ClientSession, selector: SessionSelector): boolean {
  if ('sessionId' in selector) return session.sessionId === selector.sessionId
  return 'everyone' in selector || session.userId === selector.userId
}
