import type { Billing, WebhookHandlers } from '@tollgate/billing'
import type { Database } from '@tollgate/database'
import type { Clock, Events } from '@tollgate/oauth'
import type { MiddlewareHandler } from 'hono'
import type { Logger } from 'pino'
import { observeHandlers } from './billing-events.ts'
import { dailyStatistics, dayOf, type Statistic, type StatisticName } from './daily-statistics.ts'

/** What happens in the service, day by day. Any number of processes add to the same statistics. */
export interface Statistics {
  /** Counts the tokens that are issued. */
  follow(events: Events): void
  /** Counts money that came and charges that failed; the handlers work as before. */
  observe(handlers: WebhookHandlers): WebhookHandlers
  /** Counts what is sent to the paths of billing's webhooks. */
  countDeliveries(handles: (path: string) => boolean): MiddlewareHandler
  sampleFrom(billing: Pick<Billing, 'countActive'>): void
  /**
   * Measures the active subscriptions of today, and of the days nobody has looked at. It looks at all
   * of them, so that a page asks for it only when this process's last measure is older than that.
   */
  sample(olderThanMs?: number): Promise<void>
  /** The last `days` days of everything, this process's newest included. */
  read(days: number): Promise<Statistic[]>
  /** Writes what is only in memory. */
  flush(): Promise<void>
  purge(): Promise<number>
  close(): Promise<void>
}

/** What a killed process loses at most, in milliseconds. Money is never held back. */
const FLUSHED_EVERY = 2000
const DAY_MS = 86_400_000
/** The overview looks back so far. */
export const DAYS_SHOWN = 30
/** Providers repeat an event for days at most. */
const EVENTS_KEPT = 90 * DAY_MS

export function createStatistics(options: {
  readonly database: Database
  readonly clock: Clock
  /** Of what billing does; the sandbox's in a demo. */
  readonly billingClock: Clock
  readonly logger: Logger
}): Statistics {
  const { clock, billingClock, logger } = options
  const stored = dailyStatistics(options.database)
  const waiting = new Map<string, Statistic>()
  let billing: Pick<Billing, 'countActive'> | null = null
  let sampledAt = Number.NEGATIVE_INFINITY

  /** One write for many of a kind: a row that every request wrote to would make them queue. */
  const count = (name: StatisticName, at: Clock) => {
    const day = dayOf(at.now())
    const key = `${name} ${day}`
    const amount = (waiting.get(key)?.amount ?? 0) + 1
    waiting.set(key, { name, day, unit: '', amount })
  }

  async function flush(): Promise<void> {
    const statistics = [...waiting.values()]
    waiting.clear()
    for (const [at, statistic] of statistics.entries()) {
      try {
        await stored.add(statistic)
      } catch (error) {
        for (const lost of statistics.slice(at)) keep(lost)
        throw error
      }
    }
  }

  function keep(statistic: Statistic): void {
    const key = `${statistic.name} ${statistic.day}`
    const amount = (waiting.get(key)?.amount ?? 0) + statistic.amount
    waiting.set(key, { ...statistic, amount })
  }

  const report = (error: unknown) =>
    logger.error({ err: error }, 'The statistics of the overview could not be written yet')
  const flushing = setInterval(() => {
    if (waiting.size > 0) flush().catch(report)
  }, FLUSHED_EVERY)
  flushing.unref()

  const startOf = (days: number, at: Clock) =>
    dayOf(new Date(at.now().getTime() - (days - 1) * DAY_MS))

  return {
    follow: (events) => void events.on('AccessTokenCreated', () => count('tokens.issued', clock)),
    observe: (handlers) =>
      observeHandlers(handlers, (event, counted) => {
        const at = billingClock.now()
        return stored.addOnce({ ...event, at }, { ...counted, day: dayOf(at) })
      }),
    countDeliveries: (handles) => async (c, next) => {
      await next()
      if (c.req.method !== 'POST' || !handles(c.req.path)) return
      count(c.res.status < 300 ? 'webhooks.accepted' : 'webhooks.refused', billingClock)
    },
    sampleFrom(source) {
      billing = source
    },
    async sample(olderThanMs = 0) {
      if (!billing || performance.now() - sampledAt < olderThanMs) return
      sampledAt = performance.now()
      const now = billingClock.now()
      const earliest = startOf(DAYS_SHOWN, billingClock)
      const last = (await stored.findLastDay('subscriptions.active')) ?? earliest
      // The last day again: it was not over when it was measured.
      const from = Math.max(Date.parse(last), Date.parse(earliest))
      for (let day = from; day <= now.getTime(); day += DAY_MS) {
        const at = new Date(Math.min(day + DAY_MS - 1, now.getTime()))
        const amount = await billing.countActive(at)
        await stored.set({ name: 'subscriptions.active', day: dayOf(at), unit: '', amount })
      }
    },
    async read(days) {
      await flush()
      const starts = [startOf(days, clock), startOf(days, billingClock)].sort()
      return stored.listSince(starts[0] ?? '')
    },
    flush,
    purge: () => stored.purgeEvents(new Date(billingClock.now().getTime() - EVENTS_KEPT)),
    async close() {
      clearInterval(flushing)
      await flush().catch(report)
    },
  }
}
