import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database.ts'

/**
 * SQL expression for the database's own time, in milliseconds since 1970 UTC. Use it for moments
 * that several processes compare, because their clocks differ. For SQLite it is the time of the
 * machine, which all processes on the file share.
 */
export function databaseNow({ dialect }: Pick<Database, 'dialect'>): RawBuilder<number> {
  return dialect.schema.now()
}

/** Reads the database's own clock with one query. */
export async function readServerTime(database: Database): Promise<Date> {
  const { rows } = await sql<{ now: number }>`select ${databaseNow(database)} as now`.execute(
    database.kysely,
  )
  const now = new Date(Number(rows[0]?.now))
  if (Number.isNaN(now.getTime())) throw new Error('The database returned no valid time')
  return now
}
