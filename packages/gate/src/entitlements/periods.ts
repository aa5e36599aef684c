import { type Database, insertIfAbsent } from '@tollgate/database'
import type { BillingPeriod } from '../plans/window.ts'
import { type GateTables, periodTable } from '../storage/tables.ts'

/** The billing periods in which use of subjects counts. */
export interface Periods {
  /**
   * Returns the period in which use counts now, when the subscription has the period `current`.
   * `null` if that begins later.
   */
  find(subject: string, current: BillingPeriod, now: Date): Promise<BillingPeriod | null>
  /** Deletes periods that ended before `before`, and returns their number. */
  purge(before: Date): Promise<number>
}

/** Milliseconds by which the provider's clock may be ahead. */
const CLOCK_SKEW = 5 * 60_000
const HOUR = 3_600_000
const PURGE_BATCH = 500

/**
 * Chooses the period in which use counts.
 * - A period that begins while an earlier one runs, as after a swap, grants nothing anew: use counts
 * on until either of them ends.
 * - A period that has ended is followed by the next one at once, even if the provider has not
 * announced that yet.
 * @returns `null` if the current period begins later
 */
export function choosePeriod(
  stored: BillingPeriod | null,
  current: BillingPeriod,
  now: Date,
): BillingPeriod | null {
  const given = current.endsAt > now ? current : guessNext(current, now)
  if (given.startsAt.getTime() > now.getTime() + CLOCK_SKEW) return null
  if (!stored || now >= stored.endsAt) {
    const startsAt = stored && stored.endsAt > given.startsAt ? stored.endsAt : given.startsAt
    return { startsAt, endsAt: given.endsAt }
  }
  if (given.startsAt < stored.startsAt) return stored
  const isSame = given.startsAt.getTime() === stored.startsAt.getTime()
  const endsAt = isSame || given.endsAt < stored.endsAt ? given.endsAt : stored.endsAt
  return { startsAt: stored.startsAt, endsAt }
}

/** Begins when the given one ended, and lasts as long, or until more is known. */
function guessNext({ startsAt, endsAt }: BillingPeriod, now: Date): BillingPeriod {
  const next = endsAt.getTime() + (endsAt.getTime() - startsAt.getTime())
  return { startsAt: endsAt, endsAt: new Date(Math.max(next, now.getTime() + HOUR)) }
}

const isEqual = (a: BillingPeriod, b: BillingPeriod) =>
  a.startsAt.getTime() === b.startsAt.getTime() && a.endsAt.getTime() === b.endsAt.getTime()

export function createPeriods(connected: Database): Periods {
  const database: Database<GateTables> = connected

  async function read(subject: string): Promise<BillingPeriod | null> {
    const row = await database.kysely
      .selectFrom('gate_periods')
      .selectAll()
      .where('subject', '=', subject)
      .executeTakeFirst()
    return row ? periodTable.fromRow(row) : null
  }

  /** Replaces `stored`. `false` if another process was faster. */
  async function save(
    subject: string,
    stored: BillingPeriod | null,
    period: BillingPeriod,
  ): Promise<boolean> {
    const row = periodTable.toRow({ subject, ...period })
    if (!stored) return insertIfAbsent(connected, 'gate_periods', row)
    const { numUpdatedRows } = await database.kysely
      .updateTable('gate_periods')
      .set({ starts_at: row.starts_at, ends_at: row.ends_at })
      .where('subject', '=', subject)
      .where('starts_at', '=', stored.startsAt.getTime())
      .where('ends_at', '=', stored.endsAt.getTime())
      .executeTakeFirst()
    return Number(numUpdatedRows) === 1
  }

  return {
    async find(subject, current, now) {
      for (;;) {
        const stored = await read(subject)
        const period = choosePeriod(stored, current, now)
        if (!period || (stored && isEqual(stored, period))) return period
        if (await save(subject, stored, period)) return period
      }
    },
    async purge(before) {
      const rows = await database.kysely
        .selectFrom('gate_periods')
        .select('subject')
        .where('ends_at', '<', before.getTime())
        .limit(PURGE_BATCH)
        .execute()
      for (const { subject } of rows) {
        await database.kysely
          .deleteFrom('gate_periods')
          .where('subject', '=', subject)
          .where('ends_at', '<', before.getTime())
          .execute()
      }
      return rows.length
    },
  }
}
