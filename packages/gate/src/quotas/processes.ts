import { type Database, readServerTime, upsert } from '@tollgate/database'
import type { GateTables } from '../storage/tables.ts'

const BEAT_EVERY = 5000
const SILENT_AFTER = 15_000

/** Counts the processes that lease from counters. */
export interface Processes {
  /** Returns the number of running processes, at least 1. The number may be a few seconds old. */
  count(): number
  /** Records that this process runs, if the last record is older than a few seconds. */
  beat(): Promise<void>
  /** Removes this process from the count. */
  leave(): Promise<void>
}

/**
 * Counts the processes in the database, only to choose the size of leases. A wrong count makes
 * processes ask the database more often, or hold more units for a few seconds; no quota is
 * exceeded.
 */
export function createProcesses(connected: Database, id: string): Processes {
  const database: Database<GateTables> = connected
  let count = 1
  let beatAt = Number.NEGATIVE_INFINITY
  return {
    count: () => count,
    async beat() {
      if (performance.now() - beatAt < BEAT_EVERY) return
      beatAt = performance.now()
      const seenAt = (await readServerTime(connected)).getTime()
      await upsert(connected, 'gate_processes', { id, seen_at: seenAt }, ['id'])
      await database.kysely
        .deleteFrom('gate_processes')
        .where('seen_at', '<', seenAt - SILENT_AFTER)
        .execute()
      const row = await database.kysely
        .selectFrom('gate_processes')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      count = Math.max(1, Number(row.count))
    },
    async leave() {
      await database.kysely.deleteFrom('gate_processes').where('id', '=', id).execute()
    },
  }
}
