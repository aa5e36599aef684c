import { type Database, isImpossibleValue, timestamp } from '@tollgate/database'
import type { ProviderName } from '../provider-name.ts'
import { type CardSummary, NO_CARD } from '../values/card.ts'
import { type BilledOwner, type BillingColumns, userColumns } from './tables.ts'
import type { UserTable } from './user-table.ts'

type Row = Record<string, unknown> & BillingColumns
type Change = Parameters<typeof userColumns.toChange>[0]

/** The billing columns of one of the application's own tables. Nothing else in it is written. */
export interface OwnerRows {
  find(id: Id): Promise<BilledOwner | null>
  /** Those of these ids that are there. */
  findMany(ids: readonly Id[]): Promise<BilledOwner[]>
  findByCustomer(provider: ProviderName, providerId: string): Promise<BilledOwner | null>
  /** Those who have one of these customers. */
  findByCustomers(provider: ProviderName, providerIds: readonly string[]): Promise<BilledOwner[]>
  /** At this provider, or at any. */
  countCustomers(provider: ProviderName | null): Promise<number>
  setCustomer(id: Id, customer: CustomerColumns, tx: Database): Promise<void>
  /** Another provider, and no customer there yet. */
  setProvider(id: Id, provider: ProviderName, tx: Database): Promise<void>
  setCard(id: Id, card: CardSummary, tx: Database): Promise<void>
  /** Forgets a customer that is gone at the provider. */
  clearCustomer(provider: ProviderName, providerId: string, tx: Database): Promise<void>
  setTrial(id: Id, endsAt: Date | null): Promise<void>
  /** Those whose own trial ends after the one moment and not after the other. */
  listTrials(after: Date, until: Date): Promise<BilledOwner[]>
  /** Those with a customer whose default card expires with that month. */
  listByCardExpiry(month: string): Promise<BilledOwner[]>
  /** Those with a customer, in batches by id. */
  listCustomers(after: Id | null, limit: number): Promise<BilledOwner[]>
}

type Id = string | number

/** A customer at a provider, and the card that is billed. */
export interface CustomerColumns extends CardSummary {
  readonly provider: ProviderName
  readonly providerId: string
}

const LONGEST_ID = 255
const WHOLE_NUMBER = /^(?:0|-?[1-9]\d{0,18})$/

/**
 * How an id is written in its row, or null for what can be none: `'1e0'`, `' 1'` and `'0x1'` are no
 * numbers here, whatever a database makes of them.
 */
export function parseId(id: unknown, type: 'integer' | 'string'): string | null {
  if (typeof id === 'number') return Number.isSafeInteger(id) ? String(id) : null
  if (typeof id !== 'string' || id === '' || id.length > LONGEST_ID) return null
  if (type === 'integer') return WHOLE_NUMBER.test(id) ? id : null
  return id.includes('\0') || !id.isWellFormed() ? null : id
}

/** Callers may hold more than a card: a whole row, say, whose trial is not to be written again. */
function cardOf(card: CardSummary): Required<CardSummary> {
  const { cardBrand, cardLastFour, paypalEmail, cardExpires = null } = card
  return { cardBrand, cardLastFour, paypalEmail, cardExpires }
}

function noRowsIfImpossible(error: unknown): Row[] {
  if (isImpossibleValue(error)) return []
  throw error
}

export function ownerRows(
  database: Database,
  type: string,
  described: Required<Pick<UserTable, 'table' | 'id' | 'idType'>>,
): OwnerRows {
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
    const text = parseId(id, described.idType)
    if (text === null) return null
    const found = first(await byId({ id: text }).then(({ rows }) => rows, noRowsIfImpossible))
    // SQLite and MySQL find what is only similar, by number or collation.
    return found && String(found.owner.id) === text ? found : null
  }
  const select = () => database.kysely.selectFrom(table).selectAll()
  return {
    find,
    async findMany(ids) {
      const wanted = new Set(ids.flatMap((id) => parseId(id, described.idType) ?? []))
      if (wanted.size === 0) return []
      try {
        const rows = await select()
          .where(idColumn, 'in', [...wanted])
          .execute()
        return (rows as Row[]).map(fromRow).filter(({ owner }) => wanted.has(String(owner.id)))
      } catch (error) {
        if (!isImpossibleValue(error)) throw error
        // One of them can be no id here. The others may well be there.
        const found = await Promise.all([...wanted].map(find))
        return found.filter((each) => each !== null)
      }
    },
    async findByCustomers(provider, providerIds) {
      if (providerIds.length === 0) return []
      const rows = await select()
        .where('provider', '=', provider)
        .where('provider_id', 'in', [...providerIds])
        .execute()
      return (rows as Row[]).map(fromRow)
    },
    async countCustomers(provider) {
      const { count } = await database.kysely
        .selectFrom(table)
        .select((eb) => eb.fn.countAll().as('count'))
        .where('provider_id', 'is not', null)
        .$if(provider !== null, (query) => query.where('provider', '=', provider))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    findByCustomer: async (provider, providerId) =>
      first((await byCustomer({ provider, providerId })).rows),
    setCustomer: (id, customer, tx) =>
      update(tx, id, {
        provider: customer.provider,
        providerId: customer.providerId,
        ...cardOf(customer),
      }),
    setProvider: (id, provider, tx) =>
      update(tx, id, { provider, providerId: null, ...cardOf(NO_CARD) }),
    setCard: (id, card, tx) => update(tx, id, cardOf(card)),
    async clearCustomer(provider, providerId, tx) {
      await tx.kysely
        .updateTable(table)
        .set(userColumns.toChange({ provider: null, providerId: null, ...cardOf(NO_CARD) }))
        .where('provider', '=', provider)
        .where('provider_id', '=', providerId)
        .execute()
    },
    setTrial: (id, endsAt) => update(database, id, { trialEndsAt: endsAt }),
    async listTrials(after, until) {
      const rows = await database.kysely
        .selectFrom(table)
        .selectAll()
        .where('trial_ends_at', '>', timestamp(after))
        .where('trial_ends_at', '<=', timestamp(until))
        .execute()
      return (rows as Row[]).map(fromRow)
    },
    async listByCardExpiry(month) {
      const rows = await database.kysely
        .selectFrom(table)
        .selectAll()
        .where('card_expires', '=', month)
        .where('provider_id', 'is not', null)
        .execute()
      return (rows as Row[]).map(fromRow)
    },
    async listCustomers(after, limit) {
      let query = database.kysely
        .selectFrom(table)
        .selectAll()
        .where('provider_id', 'is not', null)
        .orderBy(idColumn)
        .limit(limit)
      if (after !== null) query = query.where(idColumn, '>', after)
      return ((await query.execute()) as Row[]).map(fromRow)
    },
  }
}
