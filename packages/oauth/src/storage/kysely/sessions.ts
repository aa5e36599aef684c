import { type Database, findTogether, insertIfAbsent, insertTogether } from '@tollgate/database'
import { logoutOf } from '../pending-logout.ts'
import type { SessionSelector } from '../records.ts'
import type { LogoutTimes, SessionRepository } from '../repositories.ts'
import { logoutTable, type OAuthTables, type SessionRow, sessionTable } from './tables.ts'

export function sessionRepository(database: Database<OAuthTables>): SessionRepository {
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
      database.transaction((tx) => moveToQueue(tx, selector, when, limit)),
  }
}

/** Two who end the same session make the same logout, and the second one finds it there. */
async function moveToQueue(
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
    const logout = logoutOf(sessionTable.fromRow(row), when)
    await insertIfAbsent(tx as Database, 'oauth_logouts', logoutTable.toRow(logout))
  }
  const sids = rows.map(({ sid }) => sid)
  await tx.kysely.deleteFrom('oauth_sessions').where('sid', 'in', sids).execute()
  return rows.length
}
