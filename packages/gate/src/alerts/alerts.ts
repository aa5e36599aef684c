import { type Database, insertIfAbsent, isUnavailable } from '@tollgate/database'
import type { Clock, Logger } from '../context.ts'
import type { CounterKey, Counters } from '../quotas/counters.ts'
import { alertTable, type GateTables } from '../storage/tables.ts'
import { parseSubject, type Subject } from '../subject.ts'

/** A subject has used a share of a quota. */
export interface UsageAlert {
  /** The subject that reached the threshold. */
  readonly subject: Subject
  /** Name of the meter. */
  readonly meter: string
  /** The threshold that was reached, in percent of the quota. */
  readonly percent: number
  /** Units used. */
  readonly used: number
  /** The quota in units. */
  readonly quota: number
  /** When the quota starts over. `null` if it never does, as for a gauge. */
  readonly resetsAt: Date | null
}

/** Options of `createGate()` about alerts. */
export interface AlertOptions {
  /** Shares of a quota in percent, from 1 to 100. @default [80, 100] */
  readonly at?: readonly number[]
  /**
   * Called within about two seconds after a subject has reached a threshold: once for each threshold,
   * quota and window, by one of the processes. If it fails, it is called again. Its statements on the
   * same database are part of the transaction that records the call. If several thresholds are reached
   * at once, it is called for the highest.
   */
  on(alert: UsageAlert): unknown
}

/** Finds subjects that have reached a share of a quota. */
export interface Alerts {
  /** Returns counters that notice use. */
  watch(counters: Counters): Counters
  /** Reports thresholds that were reached. Called every second. */
  check(): Promise<void>
  /** Deletes records of windows that ended before `before`, in one batch, and returns their number. */
  purge(before: Date): Promise<number>
}

/** Use of a quota by a subject. */
type QuotaUse = Pick<UsageAlert, 'meter' | 'used' | 'resetsAt'> & { readonly quota: number | null }

interface AlertParts {
  readonly options: AlertOptions | null
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  usage(subject: Subject): Promise<readonly QuotaUse[]>
}

/** Milliseconds for which units that were leased may be spent without a statement. */
const LEASE_MS = 35_000
/** The end of a window that never ends. */
const FOREVER = 253_402_300_799_000
const PURGE_BATCH = 500
/** Largest number of thresholds to remember as reported. */
const MAX_KNOWN = 100_000

/**
 * Watches the counters. A row per subject, window and threshold decides which process reports it, so
 * that it is reported once.
 * @throws TypeError if a threshold is impossible
 */
export function createAlerts({ options, database, clock, logger, usage }: AlertParts): Alerts {
  const thresholds = [...(options?.at ?? [80, 100])].sort((a, b) => b - a)
  for (const at of thresholds) {
    if (Number.isInteger(at) && at >= 1 && at <= 100) continue
    throw new TypeError(`alerts.at: ${at} is not possible. Give whole numbers from 1 to 100.`)
  }
  const lowest = thresholds.at(-1) ?? 100
  /** Subjects that may have reached a threshold, and until when they are checked. */
  const candidates = new Map<string, number>()
  const known = new Set<string>()
  const gateTables: Database<GateTables> = database

  /** Records the thresholds, and reports the highest if it is new. */
  async function report(on: AlertOptions['on'], key: string, use: QuotaUse): Promise<void> {
    const { meter, used, quota, resetsAt } = use
    if (quota === null || quota === 0) return
    const reached = thresholds.filter((at) => used * 100 >= at * quota)
    const endsAt = resetsAt ?? new Date(FOREVER)
    const nameOf = (percent: number) => `${percent} ${quota} ${endsAt.getTime()} ${meter} ${key}`
    const fresh = reached.filter((percent) => !known.has(nameOf(percent)))
    if (fresh.length === 0) return
    await database.unitOfWork(async () => {
      const added: number[] = []
      for (const percent of fresh) {
        const row = { subject: key, meter, endsAt, quota, percent, reportedAt: clock.now() }
        if (await insertIfAbsent(database, 'gate_alerts', alertTable.toRow(row)))
          added.push(percent)
      }
      const [percent] = added
      if (percent === undefined || percent !== reached[0]) return
      await on({ subject: parseSubject(key), meter, percent, used, quota, resetsAt })
    })
    if (known.size > MAX_KNOWN) known.clear()
    for (const percent of fresh) known.add(nameOf(percent))
  }

  function notice({ subject }: CounterKey, sum: number, limit: number | null): void {
    if (limit !== null && sum * 100 < lowest * limit) return
    candidates.set(subject, performance.now() + LEASE_MS)
  }

  return {
    watch(counters) {
      if (!options) return counters
      return {
        ...counters,
        async take(key, amount, limit, on) {
          const sum = await counters.take(key, amount, limit, on)
          if (sum !== null) notice(key, sum, limit)
          return sum
        },
      }
    },
    async check() {
      if (!options) return
      for (const [key, until] of candidates) {
        const isLast = performance.now() > until
        try {
          for (const use of await usage(parseSubject(key))) await report(options.on, key, use)
          if (isLast && candidates.get(key) === until) candidates.delete(key)
        } catch (error) {
          if (isUnavailable(error) || isGateAway(error)) return
          logger.error(`An alert about ${key} failed, and will be repeated`, error)
        }
      }
    },
    async purge(before) {
      const rows = await gateTables.kysely
        .selectFrom('gate_alerts')
        .selectAll()
        .where('ends_at', '<', before.getTime())
        .limit(PURGE_BATCH)
        .execute()
      for (const row of rows) {
        await gateTables.kysely
          .deleteFrom('gate_alerts')
          .where('subject', '=', row.subject)
          .where('meter', '=', row.meter)
          .where('ends_at', '=', row.ends_at)
          .execute()
      }
      return rows.length
    },
  }
}

const isGateAway = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'GATE_UNAVAILABLE'
