import { type Database, databaseNow, insertIfAbsent } from '@tollgate/database'
import { sql } from 'kysely'
import type { OAuthTables } from './tables.ts'

/** The only row there is. */
const FEED = 'revocations'
/** Milliseconds, a little less than a process waits between two beats: whichever comes first counts for all. */
const COUNTED_EVERY = 1500

/** The count as the server has it that evaluates it. */
export const currentBeat = sql<number | null>`(select beat from oauth_heartbeats
  where id = ${sql.lit(FEED)})`

/** Counts a beat unless another process was faster, by the clock of the database. Gives the count as it then is. */
export function countBeat(database: Database<OAuthTables>): Promise<number> {
  const now = databaseNow(database)
  // In a transaction, which a proxy for reads and writes sends to the server that takes writes, reads included.
  return database.transaction(async (tx) => {
    await tx.kysely
      .updateTable('oauth_heartbeats')
      .set((eb) => ({ beat: eb('beat', '+', 1), beaten_at: now }))
      .where('id', '=', FEED)
      // Also after the clock was set back.
      .where(sql<number>`abs(${now} - beaten_at)`, '>=', COUNTED_EVERY)
      .execute()
    const row = await readRow(tx)
    if (row) return row.beat
    await insertIfAbsent(tx as Database, 'oauth_heartbeats', { id: FEED, beat: 1, beaten_at: 0 })
    return (await readRow(tx))?.beat ?? 1
  })
}

function readRow({ kysely }: Database<OAuthTables>) {
  return kysely
    .selectFrom('oauth_heartbeats')
    .select('beat')
    .where('id', '=', FEED)
    .executeTakeFirst()
}
