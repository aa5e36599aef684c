import {
  type Billing,
  fromDecimal,
  type HandlerContext,
  type WebhookHandlers,
} from '@tollgate/billing'
import type { Clock, Events } from '@tollgate/oauth'
import type braintree from 'braintree'
import type { MiddlewareHandler } from 'hono'
import type { Logger } from 'pino'
import type Stripe from 'stripe'
import type { ServiceDatabase } from '../storage/tables.ts'
import {
  createDailyStatistics,
  type Statistic,
  type StatisticName,
  toUtcDay,
} from './daily-statistics.ts'

/** Statistics per day, shared by all processes. */
export interface Statistics {
  /** Counts the tokens that the authorization server issues. */
  follow(events: Pick<Events, 'on'>): void
  /** Wraps webhook handlers to count revenue and failed charges. */
  observe(handlers: WebhookHandlers): WebhookHandlers
  /** Creates middleware that counts requests to the webhook paths of billing. */
  countDeliveries(handles: (path: string) => boolean): MiddlewareHandler
  sampleFrom(billing: Pick<Billing, 'countActive'>): void
  /**
   * Counts the active subscriptions of today, and of earlier days for which they were not counted.
   * Reads all subscriptions. Does nothing if this process did so less than `olderThanMs`
   * milliseconds ago.
   */
  sample(olderThanMs?: number): Promise<void>
  /**
   * Reads all statistics of the last `days` days, including those of this process that were still
   * in memory.
   */
  read(days: number): Promise<Statistic[]>
  /** Writes the counts that are still in memory. */
  flush(): Promise<void>
  purge(): Promise<number>
  close(): Promise<void>
}

/**
 * Milliseconds between writes, which is the most that a killed process loses. Money is written
 * immediately.
 */
const FLUSH_INTERVAL = 2000
const DAY_MS = 86_400_000
/** Number of days that the overview shows. */
export const DAYS_SHOWN = 30
/** Providers redeliver an event for a few days at most. */
const EVENT_RETENTION = 90 * DAY_MS

export function createStatistics(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
  /** The clock of billing: the sandbox's in a demo. */
  readonly billingClock: Clock
  readonly logger: Logger
}): Statistics {
  const { clock, billingClock, logger } = options
  const stored = createDailyStatistics(options.database)
  const waiting = new Map<string, Statistic>()
  let billing: Pick<Billing, 'countActive'> | null = null
  let sampledAt = Number.NEGATIVE_INFINITY

  /**
   * Collects counts in memory: concurrent requests would have to wait for each other to update the
   * same row.
   */
  const count = (name: StatisticName, at: Clock) => {
    const day = toUtcDay(at.now())
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
    logger.error(
      { err: error },
      'Writing the statistics of the overview failed and will be retried',
    )
  const flushing = setInterval(() => {
    if (waiting.size > 0) flush().catch(report)
  }, FLUSH_INTERVAL)
  flushing.unref()

  const startOf = (days: number, at: Clock) =>
    toUtcDay(new Date(at.now().getTime() - (days - 1) * DAY_MS))

  return {
    follow: (events) => void events.on('AccessTokenCreated', () => count('tokens.issued', clock)),
    observe: (handlers) =>
      observeHandlers(handlers, (event, counted) => {
        const at = billingClock.now()
        return stored.addOnce({ ...event, at }, { ...counted, day: toUtcDay(at) })
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
      // Includes the last measured day, which was not over at the time.
      const from = Math.max(Date.parse(last), Date.parse(earliest))
      for (let day = from; day <= now.getTime(); day += DAY_MS) {
        const at = new Date(Math.min(day + DAY_MS - 1, now.getTime()))
        const amount = await billing.countActive(at)
        await stored.set({ name: 'subscriptions.active', day: toUtcDay(at), unit: '', amount })
      }
    },
    async read(days) {
      await flush()
      const starts = [startOf(days, clock), startOf(days, billingClock)].sort()
      return stored.listSince(starts[0] ?? '')
    },
    flush,
    purge: () => stored.purgeEvents(new Date(billingClock.now().getTime() - EVENT_RETENTION)),
    async close() {
      clearInterval(flushing)
      await flush().catch(report)
    },
  }
}

/** The amount that an event adds to a statistic. */
type StatisticIncrement = Pick<Statistic, 'name' | 'unit' | 'amount'>
type EventReading = (event: never) => StatisticIncrement | null

/**
 * Functions that read the amount from an event, by handler name. Each payment is counted by one
 * event only.
 */
const READINGS: Readonly<Record<string, EventReading>> = {
  handleInvoicePaid: ({ data }: Stripe.InvoicePaidEvent) =>
    toRevenue(data.object.amount_paid, data.object.currency),
  handleInvoicePaymentFailed: () => FAILED,
  handleSubscriptionChargedSuccessfully: ({ subscription }: SubscriptionNotification) => {
    const charge = subscription.transactions?.[0]
    if (!charge) return null
    const { amount, currency } = fromDecimal(charge.amount, charge.currencyIsoCode)
    return toRevenue(amount, currency)
  },
  handleSubscriptionChargedUnsuccessfully: () => FAILED,
}

type SubscriptionNotification = { readonly subscription: braintree.Subscription }

const FAILED: StatisticIncrement = { name: 'charges.failed', unit: '', amount: 1 }

function toRevenue(amount: number, currency: string): StatisticIncrement | null {
  return amount > 0 ? { name: 'revenue', unit: currency.toLowerCase(), amount } : null
}

type Handler = (this: unknown, event: never, context: HandlerContext) => unknown

/**
 * Wraps the application's handlers to count events about money. Counts first, because a handler
 * that fails runs again, while the event is counted once.
 */
function observeHandlers(
  handlers: WebhookHandlers,
  count: (event: { readonly id: string }, counted: StatisticIncrement) => Promise<void>,
): WebhookHandlers {
  const own = (name: string | symbol): Handler | null => {
    const found = Reflect.get(handlers, name) as unknown
    return typeof found === 'function' ? (found as Handler) : null
  }
  return new Proxy(handlers, {
    get(_target, name) {
      const handler = own(name)
      const read = typeof name === 'string' && Object.hasOwn(READINGS, name) ? READINGS[name] : null
      // Bound to the original object, because private fields do not work through the proxy.
      if (!read) return handler ? handler.bind(handlers) : Reflect.get(handlers, name)
      return async (event: never, context: HandlerContext) => {
        const counted = read(event)
        if (counted) await count({ id: `${context.provider}:${context.eventId}` }, counted)
        return handler ? handler.call(handlers, event, context) : context.runDefault()
      }
    },
  })
}
