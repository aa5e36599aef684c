import { type Database, findTogether, insertTogether } from '@tollgate/database'
import type { TicketRepository } from '../repositories.ts'
import { type OAuthTables, type TicketRow, ticketTable } from './tables.ts'

export function ticketRepository(database: Database<OAuthTables>): TicketRepository {
  const insert = insertTogether<TicketRow>(database, {
    table: 'oauth_tickets',
    columns: ticketTable.columns,
    key: ['hash'],
  })
  const findByHash = findTogether<TicketRow>(database, { table: 'oauth_tickets', key: 'hash' })

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
    async change(hash, before, after) {
      const { numUpdatedRows } = await database.kysely
        .updateTable('oauth_tickets')
        .set({ content: after })
        .where('hash', '=', hash)
        .where('content', '=', before)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
  }
}
