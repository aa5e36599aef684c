import { type Database, insertIfAbsent } from '@tollgate/database'
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { ClientPosition, ClientRepository } from '../repositories.ts'
import { parseUnusedClient, UNUSED_CLIENT } from '../tickets.ts'
import { appendRevocation } from './revocations.ts'
import { type ClientRow, clientRow, type OAuthTables } from './tables.ts'

export function createClientRepository(database: Database<OAuthTables>): ClientRepository {
  const findById = database.statement<{ id: string }, ClientRow>((db, param) =>
    db.selectFrom('oauth_clients').selectAll().where('id', '=', param('id')),
  )
  return {
    async find(id) {
      const [row] = (await findById({ id })).rows
      return row ? clientRow.fromRow(row) : null
    },
    async findMany(ids) {
      if (ids.length === 0) return []
      const rows = await database.kysely
        .selectFrom('oauth_clients')
        .selectAll()
        .where('id', 'in', [...ids])
        .execute()
      return rows.map(clientRow.fromRow)
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
    async page({ limit, after, search }) {
      const end = search === null ? null : await findSearchEnd(database, after)
      let query = database.kysely.selectFrom('oauth_clients').selectAll()
      if (after) query = query.where(isBeyond(after))
      if (end) query = query.where(isUpTo(end))
      if (search !== null) query = query.where(hasName(search))
      const rows = await query
        .orderBy('created_at')
        .orderBy('id')
        .limit(limit + 1)
        .execute()
      const clients = rows.slice(0, limit).map(clientRow.fromRow)
      return { clients, next: rows.length > limit ? positionOf(clients.at(-1)) : end }
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
    async recordUse(id, at, unlessAfter) {
      await database.kysely
        .updateTable('oauth_clients')
        .set({ last_used_at: at.getTime() })
        .where('id', '=', id)
        .where((eb) =>
          eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', unlessAfter.getTime())]),
        )
        .execute()
    },
    async lastUsed(ids) {
      if (ids.length === 0) return new Map()
      const rows = await database.kysely
        .selectFrom('oauth_clients')
        .select(['id', 'last_used_at'])
        .where('id', 'in', [...ids])
        .where('last_used_at', 'is not', null)
        .execute()
      return new Map(rows.map((row) => [row.id, new Date(Number(row.last_used_at))]))
    },
  }
}

/**
 * Maximum number of clients that one search examines. A search for part of a name cannot use an
 * index.
 */
export const MAX_SEARCHED_CLIENTS = 10_000

type ClientFilter = (eb: ExpressionBuilder<OAuthTables, 'oauth_clients'>) => Expression<SqlBool>

/** The first condition is implied by the second one, and lets the database use the index. */
function isBeyond({ createdAt, id }: ClientPosition): ClientFilter {
  const time = createdAt.getTime()
  return (eb) =>
    eb.and([eb('created_at', '>=', time), eb.or([eb('created_at', '>', time), eb('id', '>', id)])])
}

function isUpTo({ createdAt, id }: ClientPosition): ClientFilter {
  const time = createdAt.getTime()
  return (eb) =>
    eb.and([eb('created_at', '<=', time), eb.or([eb('created_at', '<', time), eb('id', '<=', id)])])
}

/** SQLite changes the case of ASCII letters only, so the text is also compared as it is. */
function hasName(search: string): ClientFilter {
  const pattern = (text: string) => `%${text.replace(/[!%_]/g, '!$&')}%`
  return (eb) =>
    eb.or([
      sql<SqlBool>`name like ${pattern(search)} escape '!'`,
      sql<SqlBool>`lower(name) like ${pattern(search.toLowerCase())} escape '!'`,
    ])
}

/**
 * Returns the last position that a search examines. `null` if fewer than MAX_SEARCHED_CLIENTS clients
 * are left.
 */
async function findSearchEnd(
  { kysely }: Database<OAuthTables>,
  after: ClientPosition | null,
): Promise<ClientPosition | null> {
  let query = kysely.selectFrom('oauth_clients').select(['created_at', 'id'])
  if (after) query = query.where(isBeyond(after))
  const row = await query
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .offset(MAX_SEARCHED_CLIENTS)
    .executeTakeFirst()
  return row ? { createdAt: new Date(row.created_at), id: row.id } : null
}

function positionOf(client: ClientPosition | undefined): ClientPosition | null {
  return client ? { createdAt: client.createdAt, id: client.id } : null
}

/** Deletes the client of an `UNUSED_CLIENT` ticket, unless the client has been used since. */
export async function deleteUnusedClient(
  { kysely }: Database<OAuthTables>,
  content: string,
): Promise<void> {
  const { clientId, until } = parseUnusedClient({ content })
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
  unusedBefore: Date,
  limit: number,
): Promise<number> {
  const over = await database.kysely
    .selectFrom('oauth_tickets')
    .select(['hash', 'content'])
    .where('expires_at', '<', unusedBefore.getTime())
    .where('kind', '=', UNUSED_CLIENT)
    .limit(limit)
    .execute()
  for (const { hash, content } of over) {
    await deleteUnusedClient(database, content)
    await database.kysely.deleteFrom('oauth_tickets').where('hash', '=', hash).execute()
  }
  return over.length
}
