import { sql } from 'kysely'
import type { Database } from '../database.ts'

/**
 * Asks the database server how many connections it allows the database user, over all processes.
 * `null` if connections are not limited, as with SQLite.
 */
export async function readConnectionLimit(database: Database): Promise<number | null> {
  const limit = database.dialect.schema.connectionLimit?.()
  if (!limit) return null
  const { rows } = await sql<{ allowed: number }>`select ${limit} as allowed`.execute(
    database.kysely,
  )
  return Number(rows[0]?.allowed)
}
