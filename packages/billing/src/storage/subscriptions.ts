import { type Database, timestamp } from '@tollgate/database'
import type { ProviderName } from '../provider-name.ts'
import type { Owner } from '../values/owner.ts'
import { opens, type Standing, type Statuses } from '../values/subscription-state.ts'
import { type OwnerIdTypes, ownerOfRow, ownerStatement } from './owner-columns.ts'
import { groupItems, type JoinedRow, saveItems, withItems } from './subscription-items.ts'
import { type NewSubscriptionRecord, type SubscriptionRecord, subscriptionRow } from './tables.ts'

export interface SubscriptionRepository {
  /** The newest of that name; a name collects history. */
  findByName(owner: Owner, name: string): Promise<SubscriptionRecord | null>
  findByProvider(provider: ProviderName, providerId: string): Promise<SubscriptionRecord | null>
  listByOwner(owner: Owner): Promise<SubscriptionRecord[]>
  /** Of all owners, those that have not ended; in batches by id. */
  listLive(now: Date, afterId: number, limit: number): Promise<SubscriptionRecord[]>
  /** Those `active()` holds for at that moment; their status is that of today. */
  countActive(at: Date): Promise<number>
  /** Every name that anybody's subscription has. */
  listNames(): Promise<string[]>
  /** Whether the owner ever had one. */
  hasAny(owner: Owner): Promise<boolean>
}

/** What the words in `provider_status` mean. */
export interface StatusMeanings {
  readonly statuses: ReadonlyMap<string, Statuses>
  standing(provider: ProviderName, status: string): Standing
  /** Whether a dispute that is not decided closes what was paid for. */
  readonly suspendsDisputed: boolean
}

export function subscriptionRepository(
  database: Database,
  { statuses, standing, suspendsDisputed }: StatusMeanings,
  types: OwnerIdTypes,
): SubscriptionRepository {
  const closed = [...statuses].map(([provider, words]) => ({
    provider,
    words: Object.keys(words).filter((word) => !opens(words[word] ?? 'open')),
  }))
  const fromRows = (rows: readonly JoinedRow[]) =>
    groupItems(rows).map(({ row, items }) =>
      subscriptionRow.fromRow(row, {
        owner: ownerOfRow(row, types),
        standing: standing(row.provider as ProviderName, row.provider_status),
        isSuspended: suspendsDisputed && row.disputed_at !== null,
        items,
      }),
    )
  const byName = ownerStatement<{ name: string }, JoinedRow>(database, (db, isTheirs, param) =>
    withItems(db, (subscriptions) =>
      subscriptions
        .where(isTheirs)
        .where('name', '=', param('name'))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1),
    ).orderBy('item.id'),
  )
  const byProvider = database.statement<{ provider: string; providerId: string }, JoinedRow>(
    (db, param) =>
      withItems(db, (subscriptions) =>
        subscriptions
          .where('provider', '=', param('provider'))
          .where('provider_id', '=', param('providerId')),
      ).orderBy('item.id'),
  )
  const ofOwner = ownerStatement<object, JoinedRow>(database, (db, isTheirs) =>
    withItems(db, (subscriptions) => subscriptions.where(isTheirs))
      .orderBy('s.created_at', 'desc')
      .orderBy('s.id', 'desc')
      .orderBy('item.id'),
  )
  const anyOf = ownerStatement<object, { id: number }>(database, (db, isTheirs) =>
    db.selectFrom('subscriptions').select('id').where(isTheirs).limit(1),
  )
  const first = (rows: readonly JoinedRow[]) => fromRows(rows)[0] ?? null
  return {
    findByName: async (owner, name) => first(await byName(owner, { name })),
    findByProvider: async (provider, providerId) =>
      first((await byProvider({ provider, providerId })).rows),
    listByOwner: async (owner) => fromRows(await ofOwner(owner, {})),
    async listLive(now, afterId, limit) {
      const rows = await withItems(database.kysely, (subscriptions) =>
        subscriptions
          .where('id', '>', afterId)
          .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', timestamp(now))]))
          .orderBy('id')
          .limit(limit),
      )
        .orderBy('s.id')
        .orderBy('item.id')
        .execute()
      return fromRows(rows)
    },
    async countActive(at) {
      const { count } = await database.kysely
        .selectFrom('subscriptions')
        .select((eb) => eb.fn.countAll().as('count'))
        .where('created_at', '<=', timestamp(at))
        .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', timestamp(at))]))
        .$if(suspendsDisputed, (query) => query.where('disputed_at', 'is', null))
        .where((eb) =>
          eb.and(
            closed
              .filter(({ words }) => words.length > 0)
              .map(({ provider, words }) =>
                eb.not(eb.and([eb('provider', '=', provider), eb('provider_status', 'in', words)])),
              ),
          ),
        )
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
    hasAny: async (owner) => (await anyOf(owner, {})).length > 0,
  }
}

/**
 * Inserts the row, or gives the one with that provider id these values. Owner and name stay. Its prices beside the
 * main one are written where the caller says that they are others.
 */
export async function saveSubscription(
  tx: Database,
  record: NewSubscriptionRecord,
  { hasOtherItems = false }: { readonly hasOtherItems?: boolean } = {},
): Promise<void> {
  await saveRow(tx, record)
  if (hasOtherItems) await saveItems(tx, record)
}

async function saveRow(tx: Database, record: NewSubscriptionRecord): Promise<void> {
  const { user_id, owner_type, owner_id, ...columns } = subscriptionRow.toRow(record)
  const { name, provider, provider_id, created_at, ...changes } = columns
  const updated = await tx.kysely
    .updateTable('subscriptions')
    .set(changes)
    .where('provider', '=', provider)
    .where('provider_id', '=', provider_id)
    .executeTakeFirst()
  if (Number(updated.numUpdatedRows) > 0) return
  await tx.kysely
    .insertInto('subscriptions')
    .values({ user_id, owner_type, owner_id, ...columns })
    .execute()
}
