import type { Database } from '@tollgate/database'
import type { LogoutRepository } from '../repositories.ts'
import { logoutTable, type OAuthTables } from './tables.ts'

export function logoutRepository(database: Database<OAuthTables>): LogoutRepository {
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
    async putOff(clientId, next) {
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
