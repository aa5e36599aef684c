import { type Database, insertIfAbsent } from '@tollgate/database'
import type { ClientRepository } from '../repositories.ts'
import { parseUnused, UNUSED_CLIENT } from '../tickets.ts'
import { appendRevocation } from './revocations.ts'
import { type ClientRow, clientRow, type OAuthTables } from './tables.ts'

export function clientRepository(database: Database<OAuthTables>): ClientRepository {
  const findById = database.statement<{ id: string }, ClientRow>((db, param) =>
    db.selectFrom('oauth_clients').selectAll().where('id', '=', param('id')),
  )
  return {
    async find(id) {
      const [row] = (await findById({ id })).rows
      return row ? clientRow.fromRow(row) : null
    },
    async listByUser(userId) {
      const rows = await database.kysely
        .selectFrom('oauth_clients')
        .selectAll()
        .where('user_id', '=', userId)
        .where('revoked_at', 'is', null)
        .orderBy('name')
        .orderBy('id')
        .execute()
      return rows.map(clientRow.fromRow)
    },
    async list() {
      const rows = await database.kysely
        .selectFrom('oauth_clients')
        .selectAll()
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map(clientRow.fromRow)
    },
    create: (client) => insertIfAbsent(database, 'oauth_clients', { ...clientRow.toRow(client) }),
    update: (id, change, notice, unchangedSince) =>
      database.transaction(async (tx) => {
        let update = tx.kysely
          .updateTable('oauth_clients')
          .set(clientRow.toChange(change))
          .where('id', '=', id)
          .where('revoked_at', 'is', null)
        if (change.secretVersion !== undefined) {
          update = update.where('secret_version', '=', change.secretVersion - 1)
        }
        if (unchangedSince !== undefined) {
          update = update.where('updated_at', '=', unchangedSince.getTime())
        }
        const { numUpdatedRows } = await update.executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        await appendRevocation(tx, notice)
        return true
      }),
  }
}

/** Deletes the client of an `UNUSED_CLIENT` ticket, unless the client has been used since. */
export async function deleteUnusedClient(
  { kysely }: Database<OAuthTables>,
  content: string,
): Promise<void> {
  const { clientId, until } = parseUnused({ content })
  await kysely
    .deleteFrom('oauth_clients')
    .where('id', '=', clientId)
    .where('settings', 'like', `%"unused_until":${until}%`)
    .execute()
}

/**
 * Deletes self-registered clients that were not used in time. Returns how many of their tickets
 * were deleted.
 */
export async function purgeUnusedClients(
  database: Database<OAuthTables>,
  before: Date,
  limit: number,
): Promise<number> {
  const over = await database.kysely
    .selectFrom('oauth_tickets')
    .select(['hash', 'content'])
    .where('expires_at', '<', before.getTime())
    .where('kind', '=', UNUSED_CLIENT)
    .limit(limit)
    .execute()
  for (const { hash, content } of over) {
    await deleteUnusedClient(database, content)
    await database.kysely.deleteFrom('oauth_tickets').where('hash', '=', hash).execute()
  }
  return over.length
}
