import { type AnyTables, type Database, timestamp } from '@tollgate/database'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { ProviderName } from '../provider-name.ts'
import type { Owner } from '../values/owner.ts'
import { opens, type Standing, type Statuses } from '../values/subscription-state.ts'
import { boundStatement, type OwnerRowTables, ownerOfRow } from './owner-columns.ts'
import {
  type NewSubscriptionRecord,
  type StoredItem,
  type SubscriptionRecord,
  type SubscriptionRow,
  subscriptionItemTable,
  subscriptionRow,
} from './tables.ts'

/** Rows are an owner's while the owner has the customer that they were made for: all others look like none. */
export interface SubscriptionRepository {
  /** The newest of that name; a name collects history. */
  findByName(owner: Owner, name: string): Promise<SubscriptionRecord | null>
  /** Whoever owns it. */
  find(id: number): Promise<SubscriptionRecord | null>
  /** Whoever owns it. */
  findByProvider(provider: ProviderName, providerId: string): Promise<SubscriptionRecord | null>
  /** Lists the subscriptions with these provider ids, by that id, of any owner. */
  listByProvider(
    provider: ProviderName,
    providerIds: readonly string[],
  ): Promise<ReadonlyMap<string, SubscriptionRecord>>
  listByOwner(owner: Owner): Promise<SubscriptionRecord[]>
  /** Of all owners, those that have not ended; in batches by id. */
  listLive(now: Date, afterId: number, limit: number): Promise<SubscriptionRecord[]>
  /** Those `active()` holds for at that moment; their status is that of today. */
  countActive(at: Date): Promise<number>
  /** Of all owners, those whose trial or access ends after the one moment and not after the other. */
  listBetween(
    column: 'ends_at' | 'trial_ends_at',
    after: Date,
    until: Date,
  ): Promise<SubscriptionRecord[]>
  /** Every name that anybody's subscription has. */
  listNames(): Promise<string[]>
  /** Whether the owner ever had one. */
  hasAny(owner: Owner): Promise<boolean>
  /** Whether one of the owner's ever had a trial. */
  hadTrial(owner: Owner): Promise<boolean>
}

/** What the words in `provider_status` mean. */
export interface StatusMeanings {
  readonly statuses: ReadonlyMap<string, Statuses>
  standing(provider: ProviderName, status: string): Standing
  /** Whether a dispute that is not decided closes what was paid for. */
  readonly suspendsDisputed: boolean
  /** Whether a pause does. */
  readonly suspendsPaused: boolean
}

export function subscriptionRepository(
  database: Database,
  { statuses, standing, suspendsDisputed, suspendsPaused }: StatusMeanings,
  tables: OwnerRowTables,
): SubscriptionRepository {
  const closed = [...statuses].map(([provider, words]) => ({
    provider,
    words: Object.keys(words).filter((word) => !opens(words[word] ?? 'open')),
  }))
  const fromRows = (rows: readonly JoinedRow[]) =>
    groupItems(rows).map(({ row, items }) =>
      subscriptionRow.fromRow(row, {
        owner: ownerOfRow(row, tables),
        standing: standing(row.provider as ProviderName, row.provider_status),
        isSuspended:
          (suspendsDisputed && row.disputed_at !== null) ||
          (suspendsPaused && row.paused_at !== null),
        items,
      }),
    )
  const byName = boundStatement<{ name: string }, JoinedRow>(
    database,
    tables,
    (db, isTheirs, param) =>
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
  const ofOwner = boundStatement<object, JoinedRow>(database, tables, (db, isTheirs) =>
    withItems(db, (subscriptions) => subscriptions.where(isTheirs))
      .orderBy('s.created_at', 'desc')
      .orderBy('s.id', 'desc')
      .orderBy('item.id'),
  )
  const anyOf = boundStatement<object, { id: number }>(database, tables, (db, isTheirs) =>
    db.selectFrom('subscriptions').select('id').where(isTheirs).limit(1),
  )
  const triedBy = boundStatement<object, { id: number }>(database, tables, (db, isTheirs) =>
    db
      .selectFrom('subscriptions')
      .select('id')
      .where(isTheirs)
      .where('trial_ends_at', 'is not', null)
      .limit(1),
  )
  const first = (rows: readonly JoinedRow[]) => fromRows(rows)[0] ?? null
  return {
    async find(id) {
      const rows = withItems(database.kysely, (all) => all.where('id', '=', id))
      return first(await rows.orderBy('item.id').execute())
    },
    findByName: async (owner, name) => first(await byName(owner, { name })),
    findByProvider: async (provider, providerId) =>
      first((await byProvider({ provider, providerId })).rows),
    async listByProvider(provider, providerIds) {
      if (providerIds.length === 0) return new Map()
      const rows = await withItems(database.kysely, (subscriptions) =>
        subscriptions.where('provider', '=', provider).where('provider_id', 'in', [...providerIds]),
      )
        .orderBy('item.id')
        .execute()
      return new Map(fromRows(rows).map((row) => [row.providerId, row]))
    },
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
        .$if(suspendsPaused, (query) => query.where('paused_at', 'is', null))
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
    async listBetween(column, after, until) {
      const rows = await withItems(database.kysely, (subscriptions) =>
        subscriptions.where(column, '>', timestamp(after)).where(column, '<=', timestamp(until)),
      )
        .orderBy('item.id')
        .execute()
      return fromRows(rows)
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
    hadTrial: async (owner) => (await triedBy(owner, {})).length > 0,
  }
}

/**
 * Inserts the row, or gives the one with that provider id these values. Its name stays. Its prices beside the main one are
 * written where the caller says that they are others.
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
  const columns = subscriptionRow.toRow(record)
  const { name, provider, provider_id, created_at, ...changes } = columns
  const updated = await tx.kysely
    .updateTable('subscriptions')
    .set(changes)
    .where('provider', '=', provider)
    .where('provider_id', '=', provider_id)
    .executeTakeFirst()
  if (Number(updated.numUpdatedRows) > 0) return
  await tx.kysely.insertInto('subscriptions').values(columns).execute()
}

const TABLE = 'billing_subscription_items'
const newItem = subscriptionItemTable.omit('id')

/** A subscription, once for each price beside its main one; the last four are null where it has none. */
interface JoinedRow extends SubscriptionRow {
  readonly item_id: string | null
  readonly item_price: string | null
  readonly item_product: string | null
  readonly item_quantity: number | null
}

type Query<Row = AnyTables> = SelectQueryBuilder<AnyTables, AnyTables, Row>

/**
 * These subscriptions, called `s`, with their prices. One statement, because whether somebody has a price is asked
 * all the time.
 */
function withItems(
  db: Kysely<AnyTables>,
  choose: (subscriptions: Query) => Query,
): Query<JoinedRow> {
  return db
    .selectFrom(choose(db.selectFrom('subscriptions').selectAll()).as('s'))
    .leftJoin(`${TABLE} as item`, 'item.subscription_id', 's.id')
    .selectAll('s')
    .select([
      'item.provider_id as item_id',
      'item.provider_plan as item_price',
      'item.provider_product as item_product',
      'item.quantity as item_quantity',
    ]) as unknown as Query<JoinedRow>
}

/** Each subscription once, with its prices, in the order of the rows. */
function groupItems(
  rows: readonly JoinedRow[],
): { readonly row: SubscriptionRow; readonly items: readonly StoredItem[] }[] {
  const found = new Map<unknown, { row: JoinedRow; items: StoredItem[] }>()
  for (const row of rows) {
    const known = found.get(row.id) ?? { row, items: [] }
    found.set(row.id, known)
    const { item_id: providerId, item_price: price, item_product: product } = row
    if (providerId === null || price === null) continue
    const quantity = row.item_quantity === null ? null : Number(row.item_quantity)
    known.items.push({ providerId, price, product, quantity })
  }
  return [...found.values()]
}

/** Makes the rows of its prices those of the record, whose own row is there. */
async function saveItems(tx: Database, record: NewSubscriptionRecord): Promise<void> {
  const { provider, items, updatedAt: now } = record
  const { id } = await tx.kysely
    .selectFrom('subscriptions')
    .select('id')
    .where('provider', '=', provider)
    .where('provider_id', '=', record.providerId)
    .executeTakeFirstOrThrow()
  await tx.kysely.deleteFrom(TABLE).where('subscription_id', '=', id).execute()
  for (const { providerId, price, product, quantity } of items) {
    const row = newItem.toRow({
      subscriptionId: Number(id),
      provider,
      providerId,
      providerPlan: price,
      providerProduct: product,
      quantity,
      createdAt: now,
      updatedAt: now,
    })
    await tx.kysely.insertInto(TABLE).values(row).execute()
  }
}
