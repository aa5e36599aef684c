import { type Database, deleteBatch, increase, insertIfAbsent, upsert } from '@tollgate/database'
import type { DailyFigureRow, ServiceTables } from '../storage/tables.ts'

/** Every figure there is. What each counts is said on the overview. */
export type FigureName =
  | 'tokens.issued'
  | 'subscriptions.active'
  | 'revenue'
  | 'charges.failed'
  | 'webhooks.accepted'
  | 'webhooks.refused'

/** `2027-03-03`, in UTC. */
export type Day = string

export interface Figure {
  readonly name: FigureName
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

/** One row for each day, figure and unit: however much happens, a month is read in no time. */
export interface DailyFigures {
  add(figure: Figure): Promise<void>
  /** Adds once for this event, however often it comes and from wherever. */
  addOnce(event: { readonly id: string; readonly at: Date }, figure: Figure): Promise<void>
  /** For what is not counted but measured. */
  set(figure: Figure): Promise<void>
  listSince(day: Day): Promise<Figure[]>
  findLastDay(name: FigureName): Promise<Day | null>
  /** Forgets which events were counted before; says how many. */
  purgeEvents(before: Date): Promise<number>
}

export function dailyFigures(plain: Database): DailyFigures {
  const database = plain as unknown as Database<ServiceTables>
  const add = (on: Database, figure: Figure) =>
    increase(on, TABLE, { ...figure }, { key: KEY, column: 'amount' })
  return {
    add: (figure) => add(plain, figure),
    addOnce: ({ id, at }, figure) =>
      plain.transaction(async (tx) => {
        const isNew = await insertIfAbsent(tx, 'counted_events', { id, counted_at: at.getTime() })
        if (isNew) await add(tx, figure)
      }),
    set: (figure) => upsert(plain, TABLE, { ...figure }, KEY),
    async listSince(day) {
      const rows = await database.kysely
        .selectFrom(TABLE)
        .selectAll()
        .where('day', '>=', day)
        .where('name', 'in', NAMES)
        .execute()
      return rows.map(fromRow)
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
const NAMES: readonly FigureName[] = [
  'tokens.issued',
  'subscriptions.active',
  'revenue',
  'charges.failed',
  'webhooks.accepted',
  'webhooks.refused',
]

function fromRow(row: DailyFigureRow): Figure {
  const { name, day, unit, amount } = row
  return { name: name as FigureName, day, unit, amount: Number(amount) }
}
