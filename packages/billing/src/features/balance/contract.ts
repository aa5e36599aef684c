import type { Money } from '../../core/values/money.ts'

/** A change to make to a customer's balance. */
export interface NewBalanceEntry {
  /** Amount of the entry. Positive amounts are credit for the customer, negative ones are owed. */
  readonly amount: Money
  /** Text shown to the customer. `null` if there is no description. */
  readonly description: string | null
  /** Whether the credit is a gift: the merchant grants it, and the customer has not paid for it. */
  readonly isGift: boolean
  /**
   * Idempotency key of the entry: the caller's key or, if there is none, the id of our stored
   * operation.
   */
  readonly key: string
}

/** One entry of a customer's balance, in the same form for every provider. */
export interface ProviderBalanceEntry {
  /** The provider's id of the entry. */
  readonly id: string
  /** Amount of the entry. Positive amounts are credit for the customer, negative ones are owed. */
  readonly amount: Money
  /** The customer's balance after this entry. */
  readonly balance: Money
  /** Text shown to the customer. `null` if there is no description. */
  readonly description: string | null
  /** Whether the credit is a gift: the merchant grants it, and the customer has not paid for it. */
  readonly isGift: boolean
  /** The provider's id of the invoice that used the entry. `null` if no invoice used it. */
  readonly invoice: string | null
  /** When the entry was made. */
  readonly createdAt: Date
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}

/** Gateway interface to a customer's balance (credit and debt) at the provider. */
export interface CustomerBalance {
  /** Reads the customer's balance: positive for credit, negative for debt. */
  read(customerId: string): Promise<Money>
  /**
   * Lists the entries of the customer's balance, newest first. `limit` of `null` returns all of
   * them.
   */
  list(customerId: string, limit: number | null): Promise<ProviderBalanceEntry[]>
  /** Finds the balance entry made with this idempotency key. `null` if there is none. */
  findByKey(customerId: string, key: string): Promise<ProviderBalanceEntry | null>
  /**
   * Adds an entry to the customer's balance. A repeated call with the same key returns the first
   * entry.
   */
  add(customerId: string, entry: NewBalanceEntry): Promise<ProviderBalanceEntry>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to the balance (credit and debt) of customers. */
    readonly balance: CustomerBalance
  }

  interface ReadOnlyMethods {
    readonly balance: 'read' | 'list' | 'findByKey'
  }
}
