import { type Database, insertIfAbsent } from '@tollgate/database'
import { type GateTables, recordTable } from '../storage/tables.ts'
import type { Counters } from './counters.ts'
import type { QuotaTarget } from './leases.ts'

/** Use that has already happened, with an id that the caller has chosen. */
export interface UseRecord {
  readonly id: string
  readonly target: QuotaTarget
  readonly amount: number
  readonly recordedAt: Date
}

/**
 * Counts a use, unless a use with the same id was counted before for the subject. Returns whether
 * it was counted.
 */
export function countOnce(
  database: Database,
  counters: Counters,
  use: UseRecord,
): Promise<boolean> {
  const { id, target, amount, recordedAt } = use
  const { subject, meter } = target
  return database.transaction(async (tx) => {
    const row = recordTable.toRow({ id, subject, meter, amount, recordedAt })
    if (!(await insertIfAbsent(tx, 'gate_records', row))) return false
    if (amount > 0) await counters.take(target, amount, null, tx)
    return true
  })
}

const PURGE_BATCH = 500

/** Deletes the records older than `before` in one batch, and returns their number. */
export async function purgeRecords(connected: Database, before: Date): Promise<number> {
  const database: Database<GateTables> = connected
  const rows = await database.kysely
    .selectFrom('gate_records')
    .select(['subject', 'id'])
    .where('recorded_at', '<', before.getTime())
    .limit(PURGE_BATCH)
    .execute()
  for (const { subject, id } of rows) {
    await database.kysely
      .deleteFrom('gate_records')
      .where('subject', '=', subject)
      .where('id', '=', id)
      .execute()
  }
  return rows.length
}
