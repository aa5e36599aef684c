import type { Money } from '../../../../values/money.ts'

/** A change of a customer's balance. */
export interface NewBalanceEntry {
  /** Above zero for the customer, below zero for us. */
  readonly amount: Money
  /** What people read. */
  readonly description: string | null
  /** Whether it was given and not paid for. */
  readonly isGift: boolean
  /** The caller's or the operation's: the same key counts once. */
  readonly key: string
}

/** One change of a customer's balance, in our words. */
export interface ProviderBalanceEntry {
  /** The provider's id. */
  readonly id: string
  /** Above zero for the customer, below zero for us. */
  readonly amount: Money
  /** What the balance was afterwards. */
  readonly balance: Money
  /** What people read. */
  readonly description: string | null
  /** Whether it was given and not paid for. */
  readonly isGift: boolean
  /** The invoice that used it; null for none. */
  readonly invoice: string | null
  /** When it was written. */
  readonly createdAt: Date
  /** The provider's own object. */
  readonly raw: unknown
}

/** What a customer has in credit, and owes. */
export interface CustomerBalance {
  /** Above zero for the customer. */
  read(customerId: string): Promise<Money>
  /** The newest so many; null for all. */
  list(customerId: string, limit: number | null): Promise<ProviderBalanceEntry[]>
  /** The one that was written under this key; null for none. */
  findByKey(customerId: string, key: string): Promise<ProviderBalanceEntry | null>
  /** A repeat with the same key gives the same entry. */
  add(customerId: string, entry: NewBalanceEntry): Promise<ProviderBalanceEntry>
}
