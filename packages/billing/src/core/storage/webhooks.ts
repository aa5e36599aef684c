import { type Database, insertTogether } from '@tollgate/database'
import type { ProviderName } from '../values/provider-name.ts'
import { createQueue, createQueueEntry, type WorkQueue } from './queue.ts'
import { createQueuePages, type QueuePages } from './queue-pages.ts'
import { type StoredWebhook, type WebhookRow, type WebhookState, webhookTable } from './tables.ts'

export interface NewWebhook {
  readonly provider: ProviderName
  readonly eventId: string
  readonly type: string
  readonly payload: string
  /** Whether there is a handler for the event. If not, the event is only stored. */
  readonly hasHandler: boolean
}

/** Filter for webhooks in the inbox. All given conditions must hold. */
export interface WebhookFilter {
  readonly provider?: ProviderName
  /** The provider's id of the event. */
  readonly eventId?: string
  readonly type?: string
  /** Earliest time at which the webhook arrived. */
  readonly from?: Date
  readonly to?: Date
}

/** The durable inbox of webhooks. Each event is stored once, even if the provider repeats it. */
export interface WebhookRepository
  extends WorkQueue<StoredWebhook, WebhookState>,
    QueuePages<StoredWebhook, WebhookState> {
  /** Adds a webhook. Returns `false` if the same event is already stored. */
  add(event: NewWebhook, at: Date): Promise<boolean>
  /** Makes the matching handled events and dead letters due again, and returns their number. */
  replay(which: WebhookFilter, at: Date): Promise<number>
}

const newWebhook = webhookTable.omit('id')

export function createWebhookRepository(database: Database): WebhookRepository {
  const table = 'billing_webhooks'
  const insert = insertTogether<Omit<WebhookRow, 'id'>>(database, {
    table,
    columns: newWebhook.columns,
    key: ['provider', 'event_id'],
  })
  return {
    ...createQueue(database, webhookTable, { givenUp: 'dead' }),
    ...createQueuePages(database, webhookTable),
    add({ hasHandler, ...event }, at) {
      const { createdAt: receivedAt, ...due } = createQueueEntry(at)
      const over = hasHandler ? {} : { state: 'done' as const, finishedAt: at }
      return insert(newWebhook.toRow({ ...event, ...due, receivedAt, ...over }))
    },
    async replay({ provider, eventId, type, from, to }, at) {
      const conditions: [string, '=' | '>=' | '<=', string | number][] = []
      if (provider !== undefined) conditions.push(['provider', '=', provider])
      if (eventId !== undefined) conditions.push(['event_id', '=', eventId])
      if (type !== undefined) conditions.push(['type', '=', type])
      if (from !== undefined) conditions.push(['received_at', '>=', from.getTime()])
      if (to !== undefined) conditions.push(['received_at', '<=', to.getTime()])
      // Pending events are due anyway, and may be in progress.
      const { numUpdatedRows } = await database.kysely
        .updateTable(table)
        .set({ state: 'pending', attempts: 0, due_at: at.getTime(), finished_at: null })
        .where('state', 'in', ['done', 'dead'])
        .where((eb) => eb.and(conditions.map(([column, is, value]) => eb(column, is, value))))
        .executeTakeFirst()
      return Number(numUpdatedRows)
    },
  }
}
