import { type AnyTables, type Database, hasTable } from '@tollgate/database'
import { sql } from 'kysely'

/**
 * Tables of the gate with data about its subjects. They exist only if plans have, or once had, limits.
 * The other columns are exported.
 */
const TABLES = [
  { name: 'gate_counters', section: 'use_of_quotas', order: ['meter', 'starts_at'] },
  { name: 'gate_records', section: 'recorded_use', order: ['id'] },
  { name: 'gate_overrides', section: 'exceptions_from_plans', order: ['created_at'] },
  { name: 'gate_alerts', section: 'reported_use', order: ['reported_at', 'percent'] },
  { name: 'gate_changes', section: null, order: [] },
] as const

/** Columns that some databases return as text. */
const NUMBERS = ['taken', 'amount', 'quota', 'percent']

const hasGateTables = (database: Database) => hasTable(database, TABLES[0].name)

/** Deletes what the gate has stored about a subject, such as `user:7`. */
export async function deleteGateData(database: Database, subject: string): Promise<void> {
  if (!(await hasGateTables(database))) return
  for (const { name } of TABLES) {
    await sql`delete from ${sql.table(name)} where ${sql.ref('subject')} = ${subject}`.execute(
      database.kysely,
    )
  }
}

/** Reads what the gate has stored about a subject, by the names of the columns. */
export async function readGateData(
  database: Database,
  subject: string,
): Promise<{ section: string; data: Record<string, unknown> }[]> {
  if (!(await hasGateTables(database))) return []
  const { kysely } = database as Database<AnyTables>
  const found = []
  for (const { name, section, order } of TABLES) {
    if (section === null) continue
    let query = kysely.selectFrom(name).selectAll().where('subject', '=', subject)
    for (const column of order) query = query.orderBy(column)
    for (const { subject: _, ...row } of await query.execute())
      found.push({ section, data: toJson(row) })
  }
  return found
}

/** Converts the moments of a row, and the numbers that some databases return as text. */
function toJson(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (value !== null && name.endsWith('_at')) return [name, new Date(Number(value))]
      return [name, NUMBERS.includes(name) ? Number(value) : value]
    }),
  )
}

/** Number of counters that are read, including those of periods that have ended. */
const EXAMINED_COUNTERS = 500

/**
 * Lists the subjects that have used most of a meter in the present periods, at most `limit`, among
 * the largest counters.
 */
export async function listCurrentUse(
  database: Database,
  now: Date,
  limit: number,
): Promise<string[]> {
  if (!(await hasGateTables(database))) return []
  const { kysely } = database as Database<AnyTables>
  const rows = await kysely
    .selectFrom('gate_counters')
    .select(['subject', 'ends_at'])
    .orderBy('taken', 'desc')
    .limit(EXAMINED_COUNTERS)
    .execute()
  const current = rows.filter(({ ends_at: end }) => Number(end) > now.getTime())
  return [...new Set(current.map(({ subject }) => String(subject)))].slice(0, limit)
}
