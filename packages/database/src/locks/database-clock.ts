import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database.ts'
import type { Dialect } from '../dialects/engine.ts'

/** Each is the moment it is evaluated, not that of its transaction's start, and knows no time zone. */
const MILLISECONDS: Record<Dialect, () => RawBuilder<number>> = {
  sqlite: () => sql`cast(unixepoch('now', 'subsec') * 1000 as integer)`,
  postgres: () => sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
  mysql: () => sql`(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000)`,
}

/**
 * The database's own time in milliseconds since 1970 UTC, for what several processes compare: theirs
 * differ. An SQLite file is on one machine, whose time it is.
 */
export function databaseNow({ dialect }: { readonly dialect: Dialect }): RawBuilder<number> {
  return MILLISECONDS[dialect]()
}

/** What the database's own clock says, to compare it with this machine's. */
export async function readServerTime(database: Database): Promise<Date> {
  const { rows } = await sql<{ now: number }>`select ${databaseNow(database)} as now`.execute(
    database.kysely,
  )
  return new Date(Number(rows[0]?.now))
}
