import { type Database, deleteBatch, increase, insertIfAbsent, upsert } from '@tollgate/database'
import { dailyStatisticTable, type ServiceTables } from '../storage/tables.ts'

/** Every statistic there is. What each counts is said on the overview. */
export type StatisticName =
  | 'tokens.issued'
  | 'subscriptions.active'
  | 'revenue'
  | 'charges.failed'
  | 'webhooks.accepted'
  | 'webhooks.refused'

/** `2027-03-03`, in UTC. */
export type Day = string

export interface Statistic {
  readonly name: StatisticName
  readonly day: Day
  /** A currency for money; empty for things that are counted. */
  readonly unit: string
  readonly amount: number
}

const TABLE = 'daily_figures'
const KEY = ['name', 'day', 'unit']
const PURGED_AT_ONCE = 500

export function dayOf(instant: Date): Day {
  return instant.toISOString().slice(0, 10)
}

/** One row for each day, statistic and unit: however much happens, a month is read in no time. */
export interface DailyStatistics {
  add(statistic: Statistic): Promise<void>
  /** Adds once for this event, however often it comes and from wherever. */
  addOnce(event: { readonly id: string; readonly at: Date }, statistic: Statistic): Promise<void>
  /** For what is not counted but measured. */
  set(statistic: Statistic): Promise<void>
  listSince(day: Day): Promise<Statistic[]>
  findLastDay(name: StatisticName): Promise<Day | null>
  /** Forgets which events were counted before; says how many. */
  purgeEvents(before: Date): Promise<number>
}

export function dailyStatistics(plain: Database): DailyStatistics {
  const database = plain as unknown as Database<ServiceTables>
  const add = (on: Database, statistic: Statistic) =>
    increase(on, TABLE, { ...statistic }, { key: KEY, column: 'amount' })
  return {
    add: (statistic) => add(plain, statistic),
    addOnce: ({ id, at }, statistic) =>
      plain.transaction(async (tx) => {
        const isNew = await insertIfAbsent(tx, 'counted_events', { id, counted_at: at.getTime() })
        if (isNew) await add(tx, statistic)
      }),
    set: (statistic) => upsert(plain, TABLE, { ...statistic }, KEY),
    async listSince(day) {
      const rows = await database.kysely
        .selectFrom(TABLE)
        .selectAll()
        .where('day', '>=', day)
        .where('name', 'in', NAMES)
        .execute()
      return rows.map((row) => dailyStatisticTable.fromRow(row) as Statistic)
    },
    async findLastDay(name) {
      const row = await database.kysely
        .selectFrom(TABLE)
        .select('day')
        .where('name', '=', name)
        .orderBy('day', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row?.day ?? null
    },
    async purgeEvents(before) {
      let total = 0
      for (;;) {
        const deleted = await deleteBatch(plain, {
          table: 'counted_events',
          key: 'id',
          where: (eb) => eb('counted_at', '<', before.getTime()),
          limit: PURGED_AT_ONCE,
        })
        total += deleted
        if (deleted < PURGED_AT_ONCE) return total
      }
    },
  }
}

/** Named, so that the key's index is used. */
const NAMES: readonly StatisticName[] = [
  'tokens.issued',
  'subscriptions.active',
  'revenue',
  'charges.failed',
  'webhooks.accepted',
  'webhooks.refused',
]
