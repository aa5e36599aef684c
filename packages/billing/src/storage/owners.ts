import type { Database } from '@tollgate/database'
import type { ProviderName } from '../provider-name.ts'
import type { CardSummary } from '../values/card.ts'
import type { Owner } from '../values/owner.ts'
import { type CustomerColumns, type OwnerRows, ownerRows } from './owner-rows.ts'
import { type OwnerTables, requireOwnerTable } from './owner-tables.ts'
import type { BilledOwner } from './tables.ts'

/** Everybody who is billed, each in their own table of the application. */
export interface OwnerRepository {
  /** Users first. */
  readonly types: readonly string[]
  /** In a transaction, where there is one: as it is there. */
  find(owner: Owner, tx?: Database): Promise<BilledOwner | null>
  findByCustomer(provider: ProviderName, providerId: string): Promise<BilledOwner | null>
  setCustomer(owner: Owner, customer: CustomerColumns, tx: Database): Promise<void>
  /** Another provider, and no customer there yet. */
  setProvider(owner: Owner, provider: ProviderName, tx: Database): Promise<void>
  setCard(owner: Owner, card: CardSummary, tx: Database): Promise<void>
  /** Forgets a customer that is gone at the provider, if the owner has no other by now. */
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
  return {
    types: [...all.keys()],
    async find({ type, id }, tx) {
      const rows = tx ? ownerRows(tx, type, requireOwnerTable(tables, type)) : rowsOf(type)
      return rows.find(id)
    },
    async findByCustomer(provider, providerId) {
      for (const rows of all.values()) {
        const found = await rows.findByCustomer(provider, providerId)
        if (found) return found
      }
      return null
    },
    setCustomer: ({ type, id }, customer, tx) => rowsOf(type).setCustomer(id, customer, tx),
    setProvider: ({ type, id }, provider, tx) => rowsOf(type).setProvider(id, provider, tx),
    setCard: ({ type, id }, card, tx) => rowsOf(type).setCard(id, card, tx),
    clearCustomer: ({ type }, { provider, providerId }, tx) =>
      rowsOf(type).clearCustomer(provider, providerId, tx),
    setTrial: ({ type, id }, endsAt) => rowsOf(type).setTrial(id, endsAt),
    listTrials: async (type, after, until) => rowsOf(type).listTrials(after, until),
    listByCardExpiry: async (type, month) => rowsOf(type).listByCardExpiry(month),
    listCustomers: async (type, after, limit) => rowsOf(type).listCustomers(after, limit),
  }
}
