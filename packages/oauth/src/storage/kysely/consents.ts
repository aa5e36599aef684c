import type { Database } from '@tollgate/database'
import type { ConsentRepository } from '../repositories.ts'
import { type ConsentRow, consentRow, type OAuthTables } from './tables.ts'
import { forgetPending } from './tokens.ts'

export function consentRepository(database: Database<OAuthTables>): ConsentRepository {
  const findOne = database.statement<{ userId: string; clientId: string }, ConsentRow>(
    (db, param) =>
      db
        .selectFrom('oauth_consents')
        .selectAll()
        .where('user_id', '=', param('userId'))
        .where('client_id', '=', param('clientId')),
  )
  return {
    async find(userId, clientId) {
      const [row] = (await findOne({ userId, clientId })).rows
      return row ? consentRow.fromRow(row) : null
    },
    async listByUser(userId) {
      const rows = await database.kysely
        .selectFrom('oauth_consents')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('updated_at', 'desc')
        .execute()
      return rows.map(consentRow.fromRow)
    },
    remove: (userId, clientId) =>
      database.transaction(async (tx) => {
        await forgetPending(tx, { userId, clientId })
        await tx.kysely
          .deleteFrom('oauth_consents')
          .where('user_id', '=', userId)
          .where('client_id', '=', clientId)
          .execute()
      }),
  }
}
