import type { BillingContext } from './core/context.ts'
import { billingEventTypes } from './core/events/billing-event.ts'
import { purgeInBatches } from './core/storage/queue.ts'
import { type CountedQueue, countQueue, type QueueCounts } from './core/storage/queue-counts.ts'
import { type MailSender, purgeMail } from './features/mail/notices.ts'
import type { DeliverySender } from './features/outgoing-webhooks/deliveries.ts'
import type { RunningWebhookInbox } from './features/webhooks/inbox.ts'

const DAY = 24 * 3600 * 1000

/** Name of a queue that `billing.purge()` cleans up and `billing.countQueues()` counts. */
export type PurgedQueue = 'webhooks' | 'usage' | 'events' | 'deliveries' | 'notices'

/** Number of days for which finished rows are kept. */
const RETENTION_DAYS: Readonly<Record<PurgedQueue, number>> = {
  // Providers repeat a webhook for several days.
  webhooks: 30,
  // Longer than usage can be reported for: a repeated report whose row was deleted would count
  // twice.
  usage: 90,
  // An event is deduplicated only while its row exists, and `card.expiring` lasts a whole month.
  events: 45,
  deliveries: 45,
  // If the row were deleted before its event, a retry of the event would send the mail again.
  notices: 45,
}

/** Options of `billing.purge()`. */
export interface PurgeOptions {
  /**
   * Deletes rows that were finished before this date. Either one date for every queue, or one date
   * per queue, where queues that are left out keep their default.
   * @default 30 days ago for webhooks, 45 for events, deliveries and notices, 90 for usage
   */
  readonly before?: Date | Readonly<Partial<Record<PurgedQueue, Date>>>
}

/**
 * Number of deleted rows per queue. `codeAttempts` counts expired rate-limit rows of promotion
 * codes.
 */
export type PurgeReport = Readonly<Record<PurgedQueue | 'codeAttempts', number>>

/** The length and the delay of each queue that this process works on. */
export type QueueReport = Readonly<Record<PurgedQueue, QueueCounts>>

/** The queues of one billing instance. */
export interface BillingQueues {
  readonly context: BillingContext
  readonly inbox: RunningWebhookInbox
  /** The queue of mail to customers. `null` without the option `mail`. */
  readonly notices: MailSender | null
  readonly deliveries: DeliverySender
}

/**
 * Processes every queue until nothing is due. Webhooks and usage come first, because they record
 * events, which become mail and deliveries.
 */
export async function processQueues({
  context,
  inbox,
  notices,
  deliveries,
}: BillingQueues): Promise<void> {
  await inbox.process()
  await context.usage.process()
  await context.events.process()
  await notices?.process()
  await deliveries.process()
}

export async function purgeQueues(
  { context, deliveries }: BillingQueues,
  { before = {} }: PurgeOptions,
): Promise<PurgeReport> {
  const { clock, database } = context.options
  await clock.check?.()
  const now = clock.settled?.() ?? clock.now()
  const cutoff = (queue: PurgedQueue): Date => {
    const given = before instanceof Date ? before : before[queue]
    return given ?? new Date(now.getTime() - RETENTION_DAYS[queue] * DAY)
  }
  return {
    webhooks: await purgeInBatches((limit) =>
      context.webhooks.purge('done', cutoff('webhooks'), limit),
    ),
    usage: await context.usage.purge(cutoff('usage')),
    events: await context.events.purge(cutoff('events')),
    deliveries: await deliveries.purge(cutoff('deliveries')),
    notices: await purgeMail(database, cutoff('notices')),
    codeAttempts: await context.codeAttempts.purge(now),
  }
}

/** Counts the entries of each queue that this process works on, one queue after the other. */
export async function countQueues({
  context,
  notices,
  deliveries,
}: BillingQueues): Promise<QueueReport> {
  const { clock, database, providers } = context.options
  const names = providers.all.map(({ name }) => name)
  const types = billingEventTypes.filter((type) => context.events.isWanted(type))
  const within = (column: string, values: readonly string[]) => ({ within: { column, values } })
  const counted: Readonly<Record<PurgedQueue, CountedQueue>> = {
    webhooks: { table: 'billing_webhooks' },
    usage: { table: 'billing_usage', givenUp: 'refused', ...within('provider', names) },
    events: { table: 'billing_events', ...within('type', types) },
    deliveries: {
      table: 'billing_deliveries',
      held: 'gone',
      ...within('endpoint', deliveries.endpoints),
    },
    notices: {
      table: 'billing_notices',
      held: 'sending',
      isHeldOnceDue: true,
      ...within('provider', notices ? names : []),
    },
  }
  const now = clock.now()
  const report: [string, QueueCounts][] = []
  for (const [name, queue] of Object.entries(counted)) {
    report.push([name, await countQueue(database, queue, now)])
  }
  return Object.fromEntries(report) as QueueReport
}
