import type { Database } from '@tollgate/database'
import type { ProviderName } from '../provider-name.ts'
import type { CardSummary } from '../values/card.ts'
import { type Owner, ownerKey } from '../values/owner.ts'
import { isOf } from './owner-columns.ts'
import { type CustomerColumns, type OwnerRows, ownerRows } from './owner-rows.ts'
import { type OwnerTables, requireOwnerTable } from './owner-tables.ts'
import type { BilledOwner } from './tables.ts'

/** Everybody who is billed, each in their own table of the application. */
export interface OwnerRepository {
  /** Users first. */
  readonly types: readonly string[]
  /** In a transaction, where there is one: as it is there. */
  find(owner: Owner, tx?: Database): Promise<BilledOwner | null>
  /** Those of them that are there, by `ownerKey`. An owner of a type that is not in the options is left out. */
  findMany(owners: readonly Owner[]): Promise<ReadonlyMap<string, BilledOwner>>
  findByCustomer(provider: ProviderName, providerId: string): Promise<BilledOwner | null>
  /** Those who have one of these customers, by the customer's id. */
  findByCustomers(
    provider: ProviderName,
    providerIds: readonly string[],
  ): Promise<ReadonlyMap<string, BilledOwner>>
  /** Number of owners of all types who have a customer, at this provider or at any. */
  countCustomers(provider?: ProviderName): Promise<number>
  /** A new customer in place of one that is gone. What the owner had with that one stays the owner's. */
  setCustomer(owner: Owner, customer: CustomerColumns, tx: Database): Promise<void>
  /** Another provider, and no customer there yet. What the owner had before stays the owner's. */
  setProvider(owner: Owner, provider: ProviderName, tx: Database): Promise<void>
  setCard(owner: Owner, card: CardSummary, tx: Database): Promise<void>
  /**
   * Forgets a customer that is gone at the provider, if the owner has no other by now. What the owner had with that one
   * stays the owner's.
   */
  clearCustomer(owner: Owner, customer: CustomerKey, tx: Database): Promise<void>
  setTrial(owner: Owner, endsAt: Date | null): Promise<void>
  /** Those of a type whose own trial ends after the one moment and not after the other. */
  listTrials(type: string, after: Date, until: Date): Promise<BilledOwner[]>
  /** Those of a type whose default card expires with that month, such as `2027-04`. */
  listByCardExpiry(type: string, month: string): Promise<BilledOwner[]>
  /** Those of a type who have a customer, in batches by id. */
  listCustomers(type: string, after: string | number | null, limit: number): Promise<BilledOwner[]>
}

interface CustomerKey {
  readonly provider: ProviderName
  readonly providerId: string
}

export function ownerRepository(database: Database, tables: OwnerTables): OwnerRepository {
  const all = new Map<string, OwnerRows>()
  for (const [type, table] of tables) all.set(type, ownerRows(database, type, table))
  const rowsOf = (type: string) => requireOwnerTable(all, type)
  const find = async ({ type, id }: Owner, tx?: Database) => {
    const rows = tx ? ownerRows(tx, type, requireOwnerTable(tables, type)) : rowsOf(type)
    return rows.find(id)
  }
  const leaving = async (owner: Owner, tx: Database, change: () => Promise<void>) => {
    const before = await find(owner, tx)
    await change()
    await release(tx, owner, before)
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
        for (const each of await rows.findMany(ids)) found.set(ownerKey(each.owner), each)
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
      await rowsOf(owner.type).clearCustomer(gone.provider, gone.providerId, tx)
      await release(tx, owner, gone)
    },
    setTrial: ({ type, id }, endsAt) => rowsOf(type).setTrial(id, endsAt),
    listTrials: async (type, after, until) => rowsOf(type).listTrials(after, until),
    listByCardExpiry: async (type, month) => rowsOf(type).listByCardExpiry(month),
    listCustomers: async (type, after, limit) => rowsOf(type).listCustomers(after, limit),
  }
}

/** An owner who leaves a customer of its own accord keeps the history: those rows are bound to no customer any more. */
async function release(
  tx: Database,
  owner: Owner,
  left: Pick<BilledOwner, 'provider' | 'providerId'> | null,
): Promise<void> {
  if (!left?.provider || !left.providerId) return
  await tx.kysely
    .updateTable('subscriptions')
    .set({ provider_customer: null })
    .where('provider', '=', left.provider)
    .where('provider_customer', '=', left.providerId)
    .where(isOf(owner))
    .execute()
}
