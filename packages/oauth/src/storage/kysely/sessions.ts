import { type Database, findTogether, insertIfAbsent, insertTogether } from '@tollgate/database'
import { buildLogout } from '../pending-logout.ts'
import type { SessionSelector } from '../records.ts'
import type { LogoutRepository, LogoutTimes, SessionRepository } from '../repositories.ts'
import { logoutTable, type OAuthTables, type SessionRow, sessionTable } from './tables.ts'

export function createSessionRepository(database: Database<OAuthTables>): SessionRepository {
  const insert = insertTogether<SessionRow>(database, {
    table: 'oauth_sessions',
    columns: sessionTable.columns,
    key: ['sid'],
  })
  const findBySid = findTogether<SessionRow>(database, { table: 'oauth_sessions', key: 'sid' })

  return {
    add: (session) => insert(sessionTable.toRow(session)),
    async touch(sid, seenAt, liveUntil) {
      await database.kysely
        .updateTable('oauth_sessions')
        .set({ seen_at: seenAt.getTime(), live_until: liveUntil.getTime() })
        .where('sid', '=', sid)
        .execute()
    },
    async find(sid) {
      const row = await findBySid(sid)
      return row ? sessionTable.fromRow(row) : null
    },
    async listByUser(userId) {
      const rows = await database.kysely
        .selectFrom('oauth_sessions')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('seen_at', 'desc')
        .orderBy('sid')
        .execute()
      return rows.map(sessionTable.fromRow)
    },
    async move(before, after) {
      await database.kysely
        .updateTable('oauth_sessions')
        .set({ session_id: after })
        .where('session_id', '=', before)
        .execute()
    },
    end: (selector, when, limit) =>
      database.transaction((tx) => endAndQueue(tx, selector, when, limit)),
  }
}

/**
 * Moves sessions to the logout queue. Concurrent calls create the same logout ids, so a client gets
 * one logout per session.
 */
async function endAndQueue(
  tx: Database<OAuthTables>,
  selector: SessionSelector,
  when: LogoutTimes,
  limit: number,
): Promise<number> {
  let query = tx.kysely.selectFrom('oauth_sessions').selectAll()
  if ('sessionId' in selector) query = query.where('session_id', '=', selector.sessionId)
  if ('userId' in selector) query = query.where('user_id', '=', selector.userId)
  const rows = await query.orderBy('sid').limit(limit).execute()
  if (rows.length === 0) return 0
  for (const row of rows) {
    const logout = buildLogout(sessionTable.fromRow(row), when)
    await insertIfAbsent(tx, 'oauth_logouts', logoutTable.toRow(logout))
  }
  const sids = rows.map(({ sid }) => sid)
  await tx.kysely.deleteFrom('oauth_sessions').where('sid', 'in', sids).execute()
  return rows.length
}

export function createLogoutRepository(database: Database<OAuthTables>): LogoutRepository {
  return {
    async listDue(at, limit, exceptOf = []) {
      let query = database.kysely
        .selectFrom('oauth_logouts')
        .selectAll()
        .where('due_at', '<=', at.getTime())
        .where('expires_at', '>', at.getTime())
      if (exceptOf.length > 0) query = query.where('client_id', 'not in', exceptOf)
      const rows = await query.orderBy('due_at').limit(limit).execute()
      return rows.map(logoutTable.fromRow)
    },
    async claim({ id, attempts, dueAt }, next) {
      const { numUpdatedRows } = await database.kysely
        .updateTable('oauth_logouts')
        .set({ attempts: attempts + 1, due_at: next.getTime() })
        .where('id', '=', id)
        .where('attempts', '=', attempts)
        .where('due_at', '=', dueAt.getTime())
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
    async postpone(clientId, next) {
      await database.kysely
        .updateTable('oauth_logouts')
        .set({ due_at: next.getTime() })
        .where('client_id', '=', clientId)
        .where('due_at', '<', next.getTime())
        .execute()
    },
    async remove(id) {
      await database.kysely.deleteFrom('oauth_logouts').where('id', '=', id).execute()
    },
  }
}
