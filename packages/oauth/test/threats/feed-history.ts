import type { Database } from '@tollgate/database'
import { type RawBuilder, sql } from 'kysely'

/**
 * Gives the next entry of the feed the id that follows `id`, as a promoted standby does that had
 * received entries only up to `id`.
 */
export async function continueFeedAfter(database: Database, id: number): Promise<void> {
  const reset: Record<string, RawBuilder<unknown>> = {
    sqlite: sql`update sqlite_sequence set seq = ${id} where name = 'oauth_revocations'`,
    postgres: sql`select setval(pg_get_serial_sequence('oauth_revocations', 'id'), ${Math.max(id, 1)}, ${id > 0})`,
    mysql: sql`alter table oauth_revocations auto_increment = ${sql.lit(id + 1)}`,
  }
  await reset[database.dialect.name]?.execute(database.kysely)
}

/** Simulates a failover to a standby, or a restored backup, whose feed ends at this id. */
export async function loseFeedAfter(database: Database, id: number): Promise<void> {
  await database.kysely.deleteFrom('oauth_revocations').where('id', '>', id).execute()
  await continueFeedAfter(database, id)
}

/** Shifts all entries of the feed into the past, by the database's clock. */
export async function ageFeed(database: Database, milliseconds: number): Promise<void> {
  await sql`update oauth_revocations set written_at = written_at - ${sql.lit(milliseconds)}`.execute(
    database.kysely,
  )
}

export async function findNewestFeedId(database: Database): Promise<number> {
  const { rows } = await sql<{ id: number }>`select max(id) as id from oauth_revocations`.execute(
    database.kysely,
  )
  return Number(rows[0]?.id ?? 0)
}
