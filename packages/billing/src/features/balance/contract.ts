import type { Money } from '../../core/values/money.ts'

/** A change to make to a customer's balance. */
export interface NewBalanceEntry {
  /** Positive amounts are credit for the customer, negative ones are owed. */
  readonly amount: Money
  /** Text shown to the customer. `null` for none. */
  readonly description: string | null
  /** Whether the credit is a gift, with no payment behind it. */
  readonly isGift: boolean
  /** The caller's idempotency key or, if there is none, the id of our stored operation. */
  readonly key: string
}

/** One entry of a customer's balance, in the same form for every provider. */
export interface ProviderBalanceEntry {
  /** The provider's id of the entry. */
  readonly id: string
  /** Positive amounts are credit for the customer, negative ones are owed. */
  readonly amount: Money
  /** The customer's balance after this entry. */
  readonly balance: Money
  /** Text shown to the customer. `null` for none. */
  readonly description: string | null
  /** Whether the credit is a gift, with no payment behind it. */
  readonly isGift: boolean
  /** The provider's id of the invoice that used the entry. `null` if none did. */
  readonly invoice: string | null
  /** When the entry was made. */
  readonly createdAt: Date
  /** The provider's own object. */
  readonly raw: unknown
}

/** Credit and debt of customers at the provider. */
export interface CustomerBalance {
  /** Reads the balance: positive for credit, negative for debt. */
  read(customerId: string): Promise<Money>
  /** Lists the entries, newest first. `limit` of `null` returns all of them. */
  list(customerId: string, limit: number | null): Promise<ProviderBalanceEntry[]>
  /** Finds the entry made with this idempotency key. `null` if there is none. */
  findByKey(customerId: string, key: string): Promise<ProviderBalanceEntry | null>
  /** Adds an entry. A repeat with the same key returns the first entry. */
  add(customerId: string, entry: NewBalanceEntry): Promise<ProviderBalanceEntry>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Credit and debt of customers. */
    readonly balance: CustomerBalance
  }

  interface ReadingMethods {
    readonly balance: 'read' | 'list' | 'findByKey'
  }
}
