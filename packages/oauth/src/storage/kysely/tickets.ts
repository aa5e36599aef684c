import { type Database, findTogether, insertTogether } from '@tollgate/database'
import type { TicketRepository } from '../repositories.ts'
import { UNUSED_CLIENT } from '../tickets.ts'
import { deleteUnusedClient } from './clients.ts'
import { type OAuthTables, type TicketRow, ticketTable } from './tables.ts'

const changeOfTicket = ticketTable.pick('expires_at', 'holder')

export function createTicketRepository(database: Database<OAuthTables>): TicketRepository {
  const insert = insertTogether<TicketRow>(database, {
    table: 'oauth_tickets',
    columns: ticketTable.columns,
    key: ['hash'],
  })
  const findByHash = findTogether<TicketRow>(database, { table: 'oauth_tickets', key: 'hash' })
  const countOfHolder = database.statement<{ kind: string; holder: string }, { count: number }>(
    (db, param) =>
      db
        .selectFrom('oauth_tickets')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('kind', '=', param('kind'))
        .where('holder', '=', param('holder')),
  )

  async function find(hash: string) {
    const row = await findByHash(hash)
    return row ? ticketTable.fromRow(row) : null
  }

  return {
    add: (ticket) => insert(ticketTable.toRow(ticket)),
    find,
    async take(hash) {
      const found = await find(hash)
      if (!found) return null
      const { numDeletedRows } = await database.kysely
        .deleteFrom('oauth_tickets')
        .where('hash', '=', hash)
        .executeTakeFirst()
      return numDeletedRows === 1n ? found : null
    },
    async change(hash, before, after, also = {}) {
      const { numUpdatedRows } = await database.kysely
        .updateTable('oauth_tickets')
        .set({ content: after, ...changeOfTicket.toChange(also) })
        .where('hash', '=', hash)
        .where('content', '=', before)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
    async countHeld(kind, holder) {
      const [row] = (await countOfHolder({ kind, holder })).rows
      return Number(row?.count ?? 0)
    },
    async countAllHeld(kind) {
      const { count } = await database.kysely
        .selectFrom('oauth_tickets')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('kind', '=', kind)
        .where('holder', 'is not', null)
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async listHolders(kind, limit) {
      const rows = await database.kysely
        .selectFrom('oauth_tickets')
        .select((eb) => ['holder', eb.fn.countAll<number>().as('count')])
        .where('kind', '=', kind)
        .where('holder', 'is not', null)
        .groupBy('holder')
        .orderBy('count', 'desc')
        .orderBy('holder')
        .limit(limit)
        .execute()
      return rows.map(({ holder, count }) => ({ holder: holder ?? '', count: Number(count) }))
    },
    async evict(kind, holder, limit) {
      const oldest = await database.kysely
        .selectFrom('oauth_tickets')
        .select(['hash', 'content'])
        .where('kind', '=', kind)
        .where('holder', '=', holder)
        .orderBy('expires_at')
        .limit(limit)
        .execute()
      if (oldest.length === 0) return 0
      if (kind === UNUSED_CLIENT) {
        for (const { content } of oldest) await deleteUnusedClient(database, content)
      }
      const { numDeletedRows } = await database.kysely
        .deleteFrom('oauth_tickets')
        .where(
          'hash',
          'in',
          oldest.map(({ hash }) => hash),
        )
        // One that was used since it was selected has no holder any more.
        .where('holder', '=', holder)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
