import type { AnyTables, Database } from '@tollgate/database'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import {
  type NewSubscriptionRecord,
  type StoredItem,
  type SubscriptionRow,
  subscriptionItemTable,
} from './tables.ts'

const TABLE = 'billing_subscription_items'
const newItem = subscriptionItemTable.omit('id')

/** A subscription, once for each price beside its main one; the last four are null where it has none. */
export interface JoinedRow extends SubscriptionRow {
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
export function withItems(
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
export function groupItems(
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
export async function saveItems(tx: Database, record: NewSubscriptionRecord): Promise<void> {
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
