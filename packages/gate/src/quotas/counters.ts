import { type Database, insertIfAbsent } from '@tollgate/database'
import { sql } from 'kysely'
import type { Window } from '../plans/window.ts'
import { counterTable, type GateTables } from '../storage/tables.ts'

/** Identifies one counter. */
export interface CounterKey {
  readonly subject: string
  readonly meter: string
  readonly window: Window
}

/** Counters of usage, stored as rows. Every change is a single conditional statement. */
export interface Counters {
  /**
   * Adds `amount` to a counter and returns the new sum. If the sum would exceed `limit`, adds
   * nothing and returns `null`. A `limit` of `null` means no limit.
   */
  take(key: CounterKey, amount: number, limit: number | null, on?: Database): Promise<number | null>
  /** Returns the sum of a counter. 0 if nothing was counted. */
  read(key: CounterKey): Promise<number>
  /** Returns the sums of several counters, in their order. */
  readMany(keys: readonly CounterKey[]): Promise<number[]>
  /** Subtracts units from a counter that were taken and not used. */
  giveBack(key: CounterKey, amount: number): Promise<void>
  /**
   * Subtracts `amount` from a counter, unless the sum would fall below 0. Returns whether it was
   * subtracted.
   */
  lower(key: CounterKey, amount: number): Promise<boolean>
  /** Deletes counters whose window ended before `before`, and returns their number. */
  purge(before: Date): Promise<number>
}

/** How often to retry when a concurrent request created the row between two statements. */
const MAX_ATTEMPTS = 3
const PURGE_BATCH = 500

export function createCounters(connected: Database): Counters {
  const database: Database<GateTables> = connected
  interface Change {
    subject: string
    meter: string
    startsAt: number
    amount: number
    max: number
  }
  const add = database.updateOneReturning<Change, { taken: number }>({
    table: 'gate_counters',
    key: (param) => ({
      subject: param('subject'),
      meter: param('meter'),
      starts_at: param('startsAt'),
    }),
    where: (eb, param) => eb('taken', '<=', param('max')),
    set: (param) => ({ taken: sql`${sql.ref('taken')} + ${param('amount')}` }),
    returning: ['taken'],
  })
  const rowOf = ({ subject, meter, window }: CounterKey, taken: number) =>
    counterTable.toRow({ subject, meter, ...window, taken })
  const find = (key: CounterKey, on: Database = connected) =>
    (on as Database<GateTables>).kysely
      .selectFrom('gate_counters')
      .select('taken')
      .where('subject', '=', key.subject)
      .where('meter', '=', key.meter)
      .where('starts_at', '=', key.window.startsAt.getTime())
  async function lower({ subject, meter, window }: CounterKey, amount: number): Promise<boolean> {
    const { numUpdatedRows } = await database.kysely
      .updateTable('gate_counters')
      .set({ taken: sql<number>`${sql.ref('taken')} - ${amount}` })
      .where('subject', '=', subject)
      .where('meter', '=', meter)
      .where('starts_at', '=', window.startsAt.getTime())
      .where('taken', '>=', amount)
      .executeTakeFirst()
    return Number(numUpdatedRows) === 1
  }

  return {
    async take(key, amount, limit, on = connected) {
      const max = limit === null ? Number.MAX_SAFE_INTEGER - amount : limit - amount
      if (max < 0) return null
      const { subject, meter, window } = key
      const change = { subject, meter, startsAt: window.startsAt.getTime(), amount, max }
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const changed = await add(change, on)
        if (changed) return Number(changed.taken)
        if (await insertIfAbsent(on, 'gate_counters', rowOf(key, amount))) return amount
        const row = await find(key, on).executeTakeFirst()
        if (row && Number(row.taken) > max) return null
      }
      throw new Error(`The counter ${meter} of ${subject} changed while it was read`)
    },
    async read(key) {
      const row = await find(key).executeTakeFirst()
      return row ? Number(row.taken) : 0
    },
    async readMany(keys) {
      if (keys.length === 0) return []
      const rows = await database.kysely
        .selectFrom('gate_counters')
        .select(['subject', 'meter', 'starts_at', 'taken'])
        .where('subject', 'in', [...new Set(keys.map(({ subject }) => subject))])
        .where('meter', 'in', [...new Set(keys.map(({ meter }) => meter))])
        .execute()
      const sums = new Map(
        rows.map((row) => [`${row.subject} ${row.meter} ${Number(row.starts_at)}`, row.taken]),
      )
      return keys.map(({ subject, meter, window }) =>
        Number(sums.get(`${subject} ${meter} ${window.startsAt.getTime()}`) ?? 0),
      )
    },
    giveBack: async (key, amount) => void (await lower(key, amount)),
    lower: async (key, amount) => amount === 0 || lower(key, amount),
    async purge(before) {
      const rows = await database.kysely
        .selectFrom('gate_counters')
        .select(['subject', 'meter', 'starts_at'])
        .where('ends_at', '<', before.getTime())
        .limit(PURGE_BATCH)
        .execute()
      for (const row of rows) {
        await database.kysely
          .deleteFrom('gate_counters')
          .where('subject', '=', row.subject)
          .where('meter', '=', row.meter)
          .where('starts_at', '=', row.starts_at)
          .execute()
      }
      return rows.length
    },
  }
}
