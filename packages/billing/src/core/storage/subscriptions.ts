import { type AnyTables, type Database, timestamp } from '@tollgate/database'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { Owner } from '../values/owner.ts'
import type { ProviderName } from '../values/provider-name.ts'
import type { StandingsByStatus, SubscriptionStanding } from '../values/subscription-state.ts'
import {
  type OwnerRowTables,
  prepareCurrentCustomerStatement,
  readRowOwner,
} from './owner-columns.ts'
import {
  buildOwnerTypeCondition,
  buildProviderCondition,
  createSubscriptionConditions,
  type SubscriptionStatus,
} from './subscription-conditions.ts'
import {
  type AdditionalItemRecord,
  type NewSubscriptionRecord,
  type SubscriptionRecord,
  type SubscriptionRow,
  subscriptionItemTable,
  subscriptionRowMapper,
} from './tables.ts'

/**
 * Reads subscription rows. Methods that take an owner only find rows of the owner's current
 * customer.
 */
export interface SubscriptionRepository {
  /**
   * Finds the owner's newest subscription with this name. Earlier subscriptions with the same name
   * keep their rows.
   */
  findByName(owner: Owner, name: string): Promise<SubscriptionRecord | null>
  /** Finds a subscription of any owner by its primary key in our table. */
  find(id: number): Promise<SubscriptionRecord | null>
  /** Finds a subscription of any owner by the provider's id. */
  findByProvider(provider: ProviderName, providerId: string): Promise<SubscriptionRecord | null>
  /** Finds subscriptions of any owner by the provider's ids, keyed by that id. */
  listByProvider(
    provider: ProviderName,
    providerIds: readonly string[],
  ): Promise<ReadonlyMap<string, SubscriptionRecord>>
  listByOwner(owner: Owner): Promise<SubscriptionRecord[]>
  /** Lists subscriptions of all owners that have not ended, in batches by id. */
  listLive(now: Date, afterId: number, limit: number): Promise<SubscriptionRecord[]>
  /** Lists subscriptions of all owners, newest row first. */
  list(wanted: SubscriptionFilter, now: Date): Promise<SubscriptionRecord[]>
  /**
   * Counts rows from the newest one down, starting below the id `before` if it is given, and
   * returns the id of row number `count`. `null` if there are fewer rows.
   */
  findEnd(before: number | undefined, count: number): Promise<number | null>
  /**
   * Counts the subscriptions that were `active()` at a moment. Uses their current status, because
   * earlier statuses are not stored.
   */
  countActive(at: Date): Promise<number>
  /** Counts the subscriptions of each price that have not ended at a moment. */
  countByPrice(at: Date): Promise<PriceSubscriptionCount[]>
  /**
   * Lists subscriptions of all owners whose trial or access ends later than `after` and not later
   * than `until`.
   */
  listBetween(
    column: 'ends_at' | 'trial_ends_at',
    after: Date,
    until: Date,
  ): Promise<SubscriptionRecord[]>
  /** Lists every subscription name in use, of all owners. */
  listNames(): Promise<string[]>
  /** Whether the owner ever had a subscription. */
  hasAny(owner: Owner): Promise<boolean>
  /** Whether a subscription of the owner ever had a trial. */
  hadTrial(owner: Owner): Promise<boolean>
}

/** A price, and the number of subscriptions that have it. */
export interface PriceSubscriptionCount {
  /** The provider that has the price. */
  readonly provider: ProviderName
  /** The provider's id of the price. */
  readonly price: string
  /** Number of subscriptions that have the price. */
  readonly subscriptions: number
}

/** Filter for listing subscriptions of all owners. */
export interface SubscriptionFilter {
  readonly status?: SubscriptionStatus
  readonly name?: string
  /** Id of any price of the subscription, main or additional. */
  readonly price?: string
  readonly provider?: ProviderName
  readonly ownerType?: string
  /** Only rows with a smaller primary key. */
  readonly before?: number
  /** Only rows with this primary key or a larger one. */
  readonly end?: number
  readonly limit: number
}

/**
 * The rules for deriving the state of a subscription from its provider's status, its disputes and
 * its pauses.
 */
export interface StatusInterpretation {
  readonly statuses: ReadonlyMap<string, StandingsByStatus>
  standing(provider: ProviderName, status: string): SubscriptionStanding
  /** Whether an open dispute suspends access. */
  readonly suspendsDisputed: boolean
  /** Whether a pause suspends access. */
  readonly suspendsPaused: boolean
}

export function createSubscriptionRepository(
  database: Database,
  meanings: StatusInterpretation,
  tables: OwnerRowTables,
): SubscriptionRepository {
  const { standing, suspendsDisputed, suspendsPaused } = meanings
  const condition = createSubscriptionConditions(meanings)
  const fromRows = (rows: readonly JoinedRow[]) =>
    groupItems(rows).map(({ row, items }) =>
      subscriptionRowMapper.fromRow(row, {
        owner: readRowOwner(row, tables),
        standing: standing(row.provider as ProviderName, row.provider_status),
        isSuspended:
          (suspendsDisputed && row.disputed_at !== null) ||
          (suspendsPaused && row.paused_at !== null),
        items,
      }),
    )
  const byName = prepareCurrentCustomerStatement<{ name: string }, JoinedRow>(
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
  const ofOwner = prepareCurrentCustomerStatement<object, JoinedRow>(
    database,
    tables,
    (db, isTheirs) =>
      withItems(db, (subscriptions) => subscriptions.where(isTheirs))
        .orderBy('s.created_at', 'desc')
        .orderBy('s.id', 'desc')
        .orderBy('item.id'),
  )
  const anyOf = prepareCurrentCustomerStatement<object, { id: number }>(
    database,
    tables,
    (db, isTheirs) => db.selectFrom('subscriptions').select('id').where(isTheirs).limit(1),
  )
  const triedBy = prepareCurrentCustomerStatement<object, { id: number }>(
    database,
    tables,
    (db, isTheirs) =>
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
    async findEnd(before, count) {
      let query = database.kysely.selectFrom('subscriptions').select('id')
      if (before !== undefined) query = query.where('id', '<', before)
      const last = query
        .orderBy('id', 'desc')
        .limit(1)
        .offset(count - 1)
      const row = await last.executeTakeFirst()
      return row ? Number(row.id) : null
    },
    async list({ status, name, price, provider, ownerType, before, end, limit }, now) {
      const filter = (query: Query) => {
        if (before !== undefined) query = query.where('subscriptions.id', '<', before)
        if (end !== undefined) query = query.where('subscriptions.id', '>=', end)
        if (status !== undefined) query = query.where(condition(status, now))
        if (name !== undefined) query = query.where('name', '=', name)
        if (provider !== undefined) query = query.where(buildProviderCondition(provider))
        if (ownerType !== undefined) query = query.where(buildOwnerTypeCondition(ownerType))
        return query
      }
      const rows = await withItems(database.kysely, (all) => {
        const found = price === undefined ? filter(all) : withPrice(all, { price, limit }, filter)
        return found.orderBy('subscriptions.id', 'desc').limit(limit)
      })
        .orderBy('s.id', 'desc')
        .orderBy('item.id')
        .execute()
      return fromRows(rows)
    },
    async countActive(at) {
      const { count } = await database.kysely
        .selectFrom('subscriptions')
        .select((eb) => eb.fn.countAll().as('count'))
        .where('created_at', '<=', timestamp(at))
        .where(condition('active', at))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async countByPrice(at) {
      const living = database.kysely
        .selectFrom('subscriptions')
        .where((eb) => eb.or([eb('ends_at', 'is', null), eb.not(condition('ended', at))]))
      const main = living.select(['subscriptions.id', 'provider', 'provider_plan as price'])
      const beside = living
        .innerJoin(`${TABLE} as item`, 'item.subscription_id', 'subscriptions.id')
        .select(['subscriptions.id', 'subscriptions.provider', 'item.provider_plan as price'])
      // The union counts a subscription once that has a price both as the main price and beside it.
      const rows = await database.kysely
        .selectFrom(main.union(beside).as('priced'))
        .select((eb) => ['provider', 'price', eb.fn.countAll().as('subscriptions')])
        .groupBy(['provider', 'price'])
        .execute()
      return rows.map(({ provider, price, subscriptions }) => ({
        provider,
        price,
        subscriptions: Number(subscriptions),
      }))
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
 * Inserts a subscription's row, or updates the row with the same provider id, whose name is kept.
 * Additional items are only written if `hasOtherItems` says that they changed.
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
  const columns = subscriptionRowMapper.toRow(record)
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

/**
 * A subscription joined with its additional items: one row for each item. If the subscription has
 * none, it has a single row, in which the last four columns are `null`.
 */
interface JoinedRow extends SubscriptionRow {
  readonly item_id: string | null
  readonly item_price: string | null
  readonly item_product: string | null
  readonly item_quantity: number | null
}

/**
 * Finds the newest subscriptions with this price, main or additional. Each half of the union is
 * read from an index in the order of the ids; a condition with `or` would scan all rows if few have
 * the price.
 */
function withPrice(
  all: Query,
  { price, limit }: { readonly price: string; readonly limit: number },
  filter: (query: Query) => Query,
): Query {
  const ids = all.clearSelect().select('subscriptions.id')
  const main = filter(ids.where('subscriptions.provider_plan', '=', price))
    .orderBy('subscriptions.id', 'desc')
    .limit(limit)
  const beside = filter(
    ids
      .innerJoin(`${TABLE} as other`, 'other.subscription_id', 'subscriptions.id')
      .where('other.provider_plan', '=', price),
  )
    .orderBy('other.subscription_id', 'desc')
    .limit(limit)
  return all.innerJoin(
    (db) =>
      db
        .selectFrom(main.as('main'))
        .select('main.id')
        .union((other) => other.selectFrom(beside.as('beside')).select('beside.id'))
        .as('priced'),
    (join) => join.onRef('priced.id', '=', 'subscriptions.id'),
  )
}

type Query<Row = AnyTables> = SelectQueryBuilder<AnyTables, AnyTables, Row>

/**
 * Joins the chosen subscriptions (as `s`) with their items in one statement, because checking for a
 * price is frequent.
 */
function withItems(
  db: Kysely<AnyTables>,
  choose: (subscriptions: Query) => Query,
): Query<JoinedRow> {
  return db
    .selectFrom(choose(db.selectFrom('subscriptions').selectAll('subscriptions')).as('s'))
    .leftJoin(`${TABLE} as item`, 'item.subscription_id', 's.id')
    .selectAll('s')
    .select([
      'item.provider_id as item_id',
      'item.provider_plan as item_price',
      'item.provider_product as item_product',
      'item.quantity as item_quantity',
    ])
    .$castTo<JoinedRow>()
}

/** Groups joined rows by subscription, in the order of the rows. */
function groupItems(
  rows: readonly JoinedRow[],
): { readonly row: SubscriptionRow; readonly items: readonly AdditionalItemRecord[] }[] {
  const found = new Map<unknown, { row: JoinedRow; items: AdditionalItemRecord[] }>()
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

/** Replaces the item rows of a subscription, whose own row exists. */
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
