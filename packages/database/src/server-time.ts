import { sql } from 'kysely'
import type { Database } from './database.ts'

/** What the database's own clock says, to compare it with this machine's. On SQLite they are one. */
export async function readServerTime(database: Database): Promise<Date> {
  const query = {
    sqlite: sql<{
      ms: number
    }>`select cast(round((julianday('now') - 2440587.5) * 86400000) as integer) as ms`,
    postgres: sql<{
      ms: number
    }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`,
    mysql: sql<{ ms: number }>`select cast(unix_timestamp(now(3)) * 1000 as signed) as ms`,
  }[database.dialect]
  const { rows } = await query.execute(database.kysely)
  return new Date(Number(rows[0]?.ms))
}
