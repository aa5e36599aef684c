import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database.ts'

/**
 * The database's own time in milliseconds since 1970 UTC, for what several processes compare: theirs
 * differ. An SQLite file is on one machine, whose time it is.
 */
export function databaseNow({ dialect }: Pick<Database, 'dialect'>): RawBuilder<number> {
  return dialect.schema.now()
}

/** Reads the database's own clock. */
export async function readServerTime(database: Database): Promise<Date> {
  const { rows } = await sql<{ now: number }>`select ${databaseNow(database)} as now`.execute(
    database.kysely,
  )
  const now = new Date(Number(rows[0]?.now))
  if (Number.isNaN(now.getTime())) throw new Error('The database does not say what time it is')
  return now
}
