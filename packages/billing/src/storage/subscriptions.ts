import type { Database } from '@tollgate/database'
import type { ProviderName } from '../errors.ts'
import { CLOSED_STATUSES } from '../values/subscription-state.ts'
import { type SubscriptionRecord, type SubscriptionRow, subscriptionRow } from './tables.ts'

export interface SubscriptionRepository {
  /** The newest of that name; a name collects history. */
  findByName(userId: string | number, name: string): Promise<SubscriptionRecord | null>
  findByProvider(provider: ProviderName, providerId: string): Promise<SubscriptionRecord | null>
  listByUser(userId: string | number): Promise<SubscriptionRecord[]>
  /** Of all users, those that have not ended; in batches by id. */
  listLive(now: Date, afterId: number, limit: number): Promise<SubscriptionRecord[]>
  /** Those `active()` holds for at that moment; their status is that of today. */
  countActive(at: Date): Promise<number>
  /** Every name that anybody's subscription has. */
  listNames(): Promise<string[]>
  /** Whether the user ever had one. */
  hasAny(userId: string | number): Promise<boolean>
}

type Found = readonly SubscriptionRow[]

export function subscriptionRepository(database: Database): SubscriptionRepository {
  const byName = database.statement<{ userId: string | number; name: string }, SubscriptionRow>(
    (db, param) =>
      db
        .selectFrom('subscriptions')
        .selectAll()
        .where('user_id', '=', param('userId'))
        .where('name', '=', param('name'))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1),
  )
  const byProvider = database.statement<{ provider: string; providerId: string }, SubscriptionRow>(
    (db, param) =>
      db
        .selectFrom('subscriptions')
        .selectAll()
        .where('provider', '=', param('provider'))
        .where('provider_id', '=', param('providerId')),
  )
  const ofUser = database.statement<{ userId: string | number }, SubscriptionRow>((db, param) =>
    db
      .selectFrom('subscriptions')
      .selectAll()
      .where('user_id', '=', param('userId'))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc'),
  )
  const anyOf = database.statement<{ userId: string | number }, { id: number }>((db, param) =>
    db.selectFrom('subscriptions').select('id').where('user_id', '=', param('userId')).limit(1),
  )
  const first = (rows: Found) => (rows[0] ? subscriptionRow.fromRow(rows[0]) : null)
  return {
    findByName: async (userId, name) => first((await byName({ userId, name })).rows),
    findByProvider: async (provider, providerId) =>
      first((await byProvider({ provider, providerId })).rows),
    listByUser: async (userId) => (await ofUser({ userId })).rows.map(subscriptionRow.fromRow),
    async listLive(now, afterId, limit) {
      const rows = await database.kysely
        .selectFrom('subscriptions')
        .selectAll()
        .where('id', '>', afterId)
        .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', now.getTime())]))
        .orderBy('id')
        .limit(limit)
        .execute()
      return (rows as SubscriptionRow[]).map(subscriptionRow.fromRow)
    },
    async countActive(at) {
      const { count } = await database.kysely
        .selectFrom('subscriptions')
        .select((eb) => eb.fn.countAll().as('count'))
        .where('created_at', '<=', at.getTime())
        .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', at.getTime())]))
        .where('provider_status', 'not in', CLOSED_STATUSES)
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async listNames() {
      const rows = await database.kysely
        .selectFrom('subscriptions')
        .select('name')
        .distinct()
        .execute()
      return rows.map(({ name }) => name)
    },
    hasAny: async (userId) => (await anyOf({ userId })).rows.length > 0,
  }
}

/** Inserts the row, or gives the one with that provider id these values. Owner and name stay. */
export async function saveSubscription(
  tx: Database,
  record: Omit<SubscriptionRecord, 'id'>,
): Promise<void> {
  const { user_id, name, provider, provider_id, created_at, ...changes } =
    subscriptionRow.toRow(record)
  const updated = await tx.kysely
    .updateTable('subscriptions')
    .set(changes)
    .where('provider', '=', provider)
    .where('provider_id', '=', provider_id)
    .executeTakeFirst()
  if (Number(updated.numUpdatedRows) > 0) return
  await tx.kysely
    .insertInto('subscriptions')
    .values({ user_id, name, provider, provider_id, created_at, ...changes })
    .execute()
}
