import { type Database, deleteBatch, insertTogether } from '@tollgate/database'
import type { ProviderName } from '../provider-name.ts'
import { type StoredWebhook, type WebhookRow, type WebhookState, webhookTable } from './tables.ts'

export interface NewWebhook {
  readonly provider: ProviderName
  readonly eventId: string
  readonly type: string
  readonly payload: string
  /** Somebody will work on it; otherwise it is only kept. */
  readonly hasHandler: boolean
}

/** Some events of the inbox: every condition that is given holds. */
export interface StoredEvents {
  readonly provider?: ProviderName
  /** The provider's id. */
  readonly eventId?: string
  readonly type?: string
  /** When they arrived. */
  readonly from?: Date
  readonly to?: Date
}

/** The durable inbox. An event is in it once, whatever happens outside. */
export interface WebhookRepository {
  /** False when the event is there already. */
  add(event: NewWebhook, at: Date): Promise<boolean>
  /** Events that are due, oldest first. */
  listDue(at: Date, limit: number): Promise<number[]>
  /** Takes an event to work on, for as long as `until`; null when someone else has it. */
  claim(id: number, at: Date, until: Date): Promise<StoredWebhook | null>
  finish(id: number, at: Date): Promise<void>
  fail(id: number, failure: { error: string; attempts: number; dueAt: Date | null }): Promise<void>
  list(state: WebhookState, limit: number): Promise<StoredWebhook[]>
  /** Makes a dead letter due again; false when there is none of that id. */
  retry(id: number, at: Date): Promise<boolean>
  /** Makes events due that were done with, or given up on; says how many. */
  replay(which: StoredEvents, at: Date): Promise<number>
  /** Deletes some events finished before `before`; says how many. */
  purge(before: Date, limit: number): Promise<number>
}

const newWebhook = webhookTable.omit('id')

export function webhookRepository(database: Database): WebhookRepository {
  const due = database.statement<{ at: number; limit: number }, { id: number }>((db, param) =>
    db
      .selectFrom('billing_webhooks')
      .select('id')
      .where('state', '=', 'pending')
      .where('due_at', '<=', param('at'))
      .orderBy('due_at')
      .orderBy('id')
      .limit(param('limit') as never),
  )
  const claim = database.updateOneReturning<{ id: number; at: number; until: number }, WebhookRow>({
    table: 'billing_webhooks',
    key: (param) => ({ id: param('id') }),
    where: (eb, param) => eb.and([eb('state', '=', 'pending'), eb('due_at', '<=', param('at'))]),
    set: (param) => ({ due_at: param('until') }),
    returning: webhookTable.columns,
  })
  const table = 'billing_webhooks'
  const insert = insertTogether<Omit<WebhookRow, 'id'>>(database, {
    table,
    columns: newWebhook.columns,
    key: ['provider', 'event_id'],
  })
  const update = async (id: number, change: Parameters<typeof webhookTable.toChange>[0]) => {
    const values = webhookTable.toChange(change)
    await database.kysely.updateTable(table).set(values).where('id', '=', id).execute()
  }
  return {
    add: ({ provider, eventId, type, payload, hasHandler }, at) =>
      insert(
        newWebhook.toRow({
          provider,
          eventId,
          type,
          payload,
          state: hasHandler ? 'pending' : 'done',
          attempts: 0,
          dueAt: at,
          lastError: null,
          receivedAt: at,
          finishedAt: hasHandler ? null : at,
        }),
      ),
    listDue: async (at, limit) =>
      (await due({ at: at.getTime(), limit })).rows.map(({ id }) => Number(id)),
    async claim(id, at, until) {
      const row = await claim({ id, at: at.getTime(), until: until.getTime() })
      return row ? webhookTable.fromRow(row) : null
    },
    async finish(id, at) {
      await update(id, { state: 'done', finishedAt: at, lastError: null })
    },
    async fail(id, { error, attempts, dueAt }) {
      const when = dueAt === null ? { state: 'dead' as const } : { dueAt }
      await update(id, { attempts, lastError: error, ...when })
    },
    async list(state, limit) {
      const rows = await database.kysely
        .selectFrom(table)
        .selectAll()
        .where('state', '=', state)
        .orderBy('due_at')
        .limit(limit)
        .execute()
      return rows.map((row) => webhookTable.fromRow(row as WebhookRow))
    },
    async retry(id, at) {
      const { numUpdatedRows } = await database.kysely
        .updateTable(table)
        .set({ state: 'pending', attempts: 0, due_at: at.getTime() })
        .where('id', '=', id)
        .where('state', '=', 'dead')
        .executeTakeFirst()
      return Number(numUpdatedRows) > 0
    },
    async replay({ provider, eventId, type, from, to }, at) {
      const conditions: [string, '=' | '>=' | '<=', string | number][] = []
      if (provider !== undefined) conditions.push(['provider', '=', provider])
      if (eventId !== undefined) conditions.push(['event_id', '=', eventId])
      if (type !== undefined) conditions.push(['type', '=', type])
      if (from !== undefined) conditions.push(['received_at', '>=', from.getTime()])
      if (to !== undefined) conditions.push(['received_at', '<=', to.getTime()])
      // What is pending is worked on anyway, perhaps at this moment.
      const { numUpdatedRows } = await database.kysely
        .updateTable(table)
        .set({ state: 'pending', attempts: 0, due_at: at.getTime(), finished_at: null })
        .where('state', 'in', ['done', 'dead'])
        .where((eb) => eb.and(conditions.map(([column, is, value]) => eb(column, is, value))))
        .executeTakeFirst()
      return Number(numUpdatedRows)
    },
    purge: (before, limit) =>
      deleteBatch(database, {
        table,
        key: 'id',
        where: (eb) => eb.and([eb('state', '=', 'done'), eb('due_at', '<', before.getTime())]),
        limit,
      }),
  }
}
