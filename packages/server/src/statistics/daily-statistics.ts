import { increase, insertIfAbsent, upsert } from '@tollgate/database'
import { dailyStatisticTable, deleteInBatches, type ServiceDatabase } from '../storage/tables.ts'

/** Names of the daily statistics, each of which is defined on the overview page. */
export type StatisticName =
  | 'tokens.issued'
  | 'subscriptions.active'
  | 'revenue'
  | 'charges.failed'
  | 'webhooks.accepted'
  | 'webhooks.refused'

/** A day in UTC, such as `2027-03-03`. */
export type Day = string

export interface Statistic {
  readonly name: StatisticName
  readonly day: Day
  /** Currency code if the statistic is an amount of money, else an empty string. */
  readonly unit: string
  readonly amount: number
}

const TABLE = 'daily_figures'
const KEY = ['name', 'day', 'unit']

export function toUtcDay(instant: Date): Day {
  return instant.toISOString().slice(0, 10)
}

/** Statistics with one row per day, name and unit, so that reading a month is fast. */
export interface DailyStatistics {
  add(statistic: Statistic): Promise<void>
  /**
   * Adds the amount of an event. Each event is counted once, however often it is delivered and to
   * whichever process.
   */
  addOnce(event: { readonly id: string; readonly at: Date }, statistic: Statistic): Promise<void>
  /** Replaces the stored amount. Used for values that are measured, not counted. */
  set(statistic: Statistic): Promise<void>
  listSince(day: Day): Promise<Statistic[]>
  findLastDay(name: StatisticName): Promise<Day | null>
  /**
   * Deletes the ids of events that were counted before the date. Returns the number of deleted ids.
   */
  purgeEvents(before: Date): Promise<number>
}

export function createDailyStatistics(database: ServiceDatabase): DailyStatistics {
  const add = (on: ServiceDatabase, statistic: Statistic) =>
    increase(on, TABLE, { ...statistic }, { key: KEY, column: 'amount' })
  return {
    add: (statistic) => add(database, statistic),
    addOnce: ({ id, at }, statistic) =>
      database.transaction(async (tx) => {
        const isNew = await insertIfAbsent(tx, 'counted_events', { id, counted_at: at.getTime() })
        if (isNew) await add(tx, statistic)
      }),
    set: (statistic) => upsert(database, TABLE, { ...statistic }, KEY),
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
    purgeEvents: (before) =>
      deleteInBatches(database, {
        table: 'counted_events',
        key: 'id',
        where: (eb) => eb('counted_at', '<', before.getTime()),
      }),
  }
}

/** All names, listed so that queries can use the index. */
const NAMES: readonly StatisticName[] = [
  'tokens.issued',
  'subscriptions.active',
  'revenue',
  'charges.failed',
  'webhooks.accepted',
  'webhooks.refused',
]
