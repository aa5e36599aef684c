import { type Database, isImpossibleValue, timestamp } from '@tollgate/database'
import { type CardSummary, NO_CARD } from '../values/card.ts'
import { formatOwnerKey, type Owner } from '../values/owner.ts'
import type { ProviderName } from '../values/provider-name.ts'
import { buildOwnerCondition } from './owner-columns.ts'
import { type OwnerTables, requireOwnerTable, type UserTable } from './owner-tables.ts'
import { type BilledOwner, type BillingColumns, userColumns } from './tables.ts'

/** Reads and writes owners of all types. Each type has its own table in the application. */
export interface OwnerRepository {
  /** The owner types, users first. */
  readonly types: readonly string[]
  /** Finds an owner's row. Pass `tx` to read within a transaction. */
  find(owner: Owner, tx?: Database): Promise<BilledOwner | null>
  /**
   * Finds the rows of several owners, by `formatOwnerKey`. Owners without a row, or of an unknown type,
   * are left out.
   */
  findMany(owners: readonly Owner[]): Promise<ReadonlyMap<string, BilledOwner>>
  findByCustomer(provider: ProviderName, providerId: string): Promise<BilledOwner | null>
  /** Finds the owners of these customers, by customer id. */
  findByCustomers(
    provider: ProviderName,
    providerIds: readonly string[],
  ): Promise<ReadonlyMap<string, BilledOwner>>
  /** Counts the owners of all types who have a customer, at one provider or at any. */
  countCustomers(provider?: ProviderName): Promise<number>
  /**
   * Stores a new customer in the owner's row. Subscriptions of the previous customer stay with the
   * owner.
   */
  setCustomer(owner: Owner, customer: CustomerColumns, tx: Database): Promise<void>
  /**
   * Stores another provider in the owner's row, without a customer yet. Subscriptions at the
   * previous provider stay with the owner.
   */
  setProvider(owner: Owner, provider: ProviderName, tx: Database): Promise<void>
  setCard(owner: Owner, card: CardSummary, tx: Database): Promise<void>
  /**
   * Removes a customer that was deleted at the provider from the owner's row, unless the owner has
   * another customer by now. Subscriptions of the deleted customer stay with the owner.
   */
  clearCustomer(owner: Owner, customer: CustomerKey, tx: Database): Promise<void>
  setTrial(owner: Owner, endsAt: Date | null): Promise<void>
  /**
   * Lists the owners of a type whose generic trial ends later than `after` and not later than
   * `until`.
   */
  listTrials(type: string, after: Date, until: Date): Promise<BilledOwner[]>
  /** Lists the owners of a type whose default card expires in a month, such as `2027-04`. */
  listByCardExpiry(type: string, month: string): Promise<BilledOwner[]>
  /** Lists the owners of a type who have a customer, in batches ordered by id. */
  listCustomers(type: string, after: string | number | null, limit: number): Promise<BilledOwner[]>
}

type CustomerKey = Pick<CustomerColumns, 'provider' | 'providerId'>

export function createOwnerRepository(database: Database, tables: OwnerTables): OwnerRepository {
  const all = new Map(
    [...tables].map(([type, table]) => [type, createOwnerRowAccess(database, type, table)]),
  )
  const rowsOf = (type: string) => requireOwnerTable(all, type)
  const find = async ({ type, id }: Owner, tx?: Database) => {
    const rows = tx ? createOwnerRowAccess(tx, type, requireOwnerTable(tables, type)) : rowsOf(type)
    return rows.find(id)
  }
  const leaving = async (owner: Owner, tx: Database, change: () => Promise<void>) => {
    const before = await find(owner, tx)
    await change()
    await clearFormerCustomer(tx, owner, before)
  }
  return {
    types: [...all.keys()],
    find,
    async findByCustomer(provider, providerId) {
      for (const rows of all.values()) {
        const found = await rows.findByCustomer(provider, providerId)
        if (found) return found
      }
      return null
    },
    async findMany(owners) {
      const found = new Map<string, BilledOwner>()
      for (const [type, rows] of all) {
        const ids = owners.filter((owner) => owner.type === type).map(({ id }) => id)
        for (const each of await rows.findMany(ids)) found.set(formatOwnerKey(each.owner), each)
      }
      return found
    },
    async findByCustomers(provider, providerIds) {
      const found = new Map<string, BilledOwner>()
      for (const rows of all.values()) {
        for (const each of await rows.findByCustomers(provider, providerIds)) {
          if (each.providerId !== null) found.set(each.providerId, each)
        }
      }
      return found
    },
    async countCustomers(provider) {
      let count = 0
      for (const rows of all.values()) count += await rows.countCustomers(provider ?? null)
      return count
    },
    setCustomer: (owner, customer, tx) =>
      leaving(owner, tx, () => rowsOf(owner.type).setCustomer(owner.id, customer, tx)),
    setProvider: (owner, provider, tx) =>
      leaving(owner, tx, () => rowsOf(owner.type).setProvider(owner.id, provider, tx)),
    setCard: ({ type, id }, card, tx) => rowsOf(type).setCard(id, card, tx),
    async clearCustomer(owner, gone, tx) {
      await rowsOf(owner.type).clearCustomer(gone, tx)
      await clearFormerCustomer(tx, owner, gone)
    },
    setTrial: ({ type, id }, endsAt) => rowsOf(type).setTrial(id, endsAt),
    listTrials: async (type, after, until) => rowsOf(type).listTrials(after, until),
    listByCardExpiry: async (type, month) => rowsOf(type).listByCardExpiry(month),
    listCustomers: async (type, after, limit) => rowsOf(type).listCustomers(after, limit),
  }
}

/**
 * Clears the customer in the subscription rows of the owner's former customer, so that the rows
 * stay with the owner as history.
 */
async function clearFormerCustomer(
  tx: Database,
  owner: Owner,
  formerCustomer: Pick<BilledOwner, keyof CustomerKey> | null,
): Promise<void> {
  if (!formerCustomer?.provider || !formerCustomer.providerId) return
  await tx.kysely
    .updateTable('subscriptions')
    .set({ provider_customer: null })
    .where('provider', '=', formerCustomer.provider)
    .where('provider_customer', '=', formerCustomer.providerId)
    .where(buildOwnerCondition(owner))
    .execute()
}

type Row = Record<string, unknown> & BillingColumns
type Change = Parameters<typeof userColumns.toChange>[0]

type Id = string | number

/** A customer at a provider with its default payment method. */
export interface CustomerColumns extends CardSummary {
  readonly provider: ProviderName
  readonly providerId: string
}

const MAX_ID_LENGTH = 255
const WHOLE_NUMBER = /^(?:0|-?[1-9]\d{0,18})$/

/**
 * Normalizes an owner's id as stored in its row. `null` if it is invalid: `'1e0'`, `' 1'` and
 * `'0x1'` are not integers here, although some databases would convert them.
 */
export function normalizeOwnerId(id: unknown, type: 'integer' | 'string'): string | null {
  if (typeof id === 'number') return Number.isSafeInteger(id) ? String(id) : null
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH) return null
  if (type === 'integer') return WHOLE_NUMBER.test(id) ? id : null
  return id.includes('\0') || !id.isWellFormed() ? null : id
}

/**
 * Picks the card columns only: callers may pass a whole row, whose other values must not be
 * written.
 */
function pickCardColumns(card: CardSummary): Required<CardSummary> {
  const { cardBrand, cardLastFour, paypalEmail, cardExpires = null } = card
  return { cardBrand, cardLastFour, paypalEmail, cardExpires }
}

function ignoreImpossibleValue(error: unknown): Row[] {
  if (isImpossibleValue(error)) return []
  throw error
}

/**
 * Access to the billing columns of one of the application's tables. Other columns are never
 * written.
 */
function createOwnerRowAccess(
  database: Database,
  type: string,
  described: Required<Pick<UserTable, 'table' | 'id' | 'idType'>>,
) {
  const { table, id: idColumn } = described
  const fromRow = (row: Row): BilledOwner =>
    Object.assign(userColumns.fromRow(row), {
      owner: { type, id: row[idColumn] as Id },
      attributes: row,
    })
  const byId = database.statement<{ id: Id }, Row>((db, param) =>
    db.selectFrom(table).selectAll().where(idColumn, '=', param('id')),
  )
  const byCustomer = database.statement<{ provider: string; providerId: string }, Row>(
    (db, param) =>
      db
        .selectFrom(table)
        .selectAll()
        .where('provider', '=', param('provider'))
        .where('provider_id', '=', param('providerId')),
  )
  const first = (rows: Row[]) => (rows[0] ? fromRow(rows[0]) : null)
  const update = async (on: Database, id: Id, change: Change) => {
    const values = userColumns.toChange(change)
    await on.kysely.updateTable(table).set(values).where(idColumn, '=', id).execute()
  }
  const find = async (id: Id) => {
    const text = normalizeOwnerId(id, described.idType)
    if (text === null) return null
    const found = first(await byId({ id: text }).then(({ rows }) => rows, ignoreImpossibleValue))
    // SQLite and MySQL also match similar ids (numeric conversion, collation).
    return found && String(found.owner.id) === text ? found : null
  }
  const select = () => database.kysely.selectFrom(table).selectAll()
  const list = async (query: ReturnType<typeof select>) =>
    ((await query.execute()) as Row[]).map(fromRow)
  return {
    find,
    async findMany(ids: readonly Id[]): Promise<BilledOwner[]> {
      const wanted = new Set(ids.flatMap((id) => normalizeOwnerId(id, described.idType) ?? []))
      if (wanted.size === 0) return []
      try {
        const found = await list(select().where(idColumn, 'in', [...wanted]))
        return found.filter(({ owner }) => wanted.has(String(owner.id)))
      } catch (error) {
        if (!isImpossibleValue(error)) throw error
        // If the query failed because one id is invalid, the others may still exist.
        const found = await Promise.all([...wanted].map(find))
        return found.filter((each) => each !== null)
      }
    },
    async findByCustomers(provider: ProviderName, providerIds: readonly string[]) {
      if (providerIds.length === 0) return []
      const atProvider = select().where('provider', '=', provider)
      return list(atProvider.where('provider_id', 'in', [...providerIds]))
    },
    async countCustomers(provider: ProviderName | null) {
      const { count } = await database.kysely
        .selectFrom(table)
        .select((eb) => eb.fn.countAll().as('count'))
        .where('provider_id', 'is not', null)
        .$if(provider !== null, (query) => query.where('provider', '=', provider))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    findByCustomer: async (provider: ProviderName, providerId: string) =>
      first((await byCustomer({ provider, providerId })).rows),
    setCustomer: (id: Id, customer: CustomerColumns, tx: Database) => {
      const { provider, providerId } = customer
      return update(tx, id, { provider, providerId, ...pickCardColumns(customer) })
    },
    setProvider: (id: Id, provider: ProviderName, tx: Database) =>
      update(tx, id, { provider, providerId: null, ...pickCardColumns(NO_CARD) }),
    setCard: (id: Id, card: CardSummary, tx: Database) => update(tx, id, pickCardColumns(card)),
    async clearCustomer({ provider, providerId }: CustomerKey, tx: Database) {
      await tx.kysely
        .updateTable(table)
        .set(
          userColumns.toChange({ provider: null, providerId: null, ...pickCardColumns(NO_CARD) }),
        )
        .where('provider', '=', provider)
        .where('provider_id', '=', providerId)
        .execute()
    },
    setTrial: (id: Id, endsAt: Date | null) => update(database, id, { trialEndsAt: endsAt }),
    listTrials: (after: Date, until: Date) =>
      list(
        select()
          .where('trial_ends_at', '>', timestamp(after))
          .where('trial_ends_at', '<=', timestamp(until)),
      ),
    listByCardExpiry: (month: string) =>
      list(select().where('card_expires', '=', month).where('provider_id', 'is not', null)),
    listCustomers(after: Id | null, limit: number) {
      const all = select().where('provider_id', 'is not', null).orderBy(idColumn).limit(limit)
      return list(after === null ? all : all.where(idColumn, '>', after))
    },
  }
}
