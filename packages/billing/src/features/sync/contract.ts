import type { ProviderCustomer } from '../../providers/customer.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import type { ProviderDispute } from '../disputes/contract.ts'

/** Customers and subscriptions that were read together. Each subscription names its customer. */
export interface AccountPart {
  /** The customers, with their cards. */
  readonly customers: readonly ProviderCustomer[]
  /** Their subscriptions, including ended ones. */
  readonly subscriptions: readonly ProviderSubscription[]
}

/** One page of everything the account has. */
export interface AccountPage extends AccountPart {
  /** Cursor for the next page. `null` after the last one. */
  readonly next: string | null
}

/** A dispute as returned by a list. */
export type ListedDispute = Pick<ProviderDispute, 'id' | 'customerId' | 'status'>

/** One page of the account's disputes. */
export interface DisputePage {
  /** Open and decided disputes. */
  readonly disputes: readonly ListedDispute[]
  /** Cursor for the next page. `null` after the last one. */
  readonly next: string | null
}

/** A change of a customer, card or subscription, as recorded by the provider. */
export interface ProviderChange {
  /** The provider's id of the customer that changed. `null` if the provider does not report it. */
  readonly customerId: string | null
  /** The provider's id of the subscription that changed. `null` if the change is not about one. */
  readonly subscriptionId: string | null
  /** The subscription after this change. Missing if unknown. */
  readonly subscription?: ProviderSubscription
}

/** One page of the changes that the provider recorded in the account, newest first. */
export interface ProviderChangePage {
  /** The changes. Some may concern customers of other applications. */
  readonly changes: readonly ProviderChange[]
  /** Cursor for the next page. `null` after the last one. */
  readonly next: string | null
}

/**
 * Reads many customers and subscriptions at a time, so that the number of requests of `sync()`
 * depends on pages, not users. A gateway has either `readPage` or `readCustomers`. Anything that is
 * not listed is read by its id.
 */
export interface AccountLists {
  /**
   * Reads a page of all customers and subscriptions of the account, including those of other
   * applications.
   */
  readPage?(after: string | null): Promise<AccountPage>
  /** Reads these customers (at most 100) and their subscriptions. Deleted ones are omitted. */
  readCustomers?(ids: readonly string[]): Promise<AccountPart>
  /** Reads a page of the account's disputes, open and decided ones. */
  readDisputes(after: string | null): Promise<DisputePage>
  /**
   * Number of days for which the provider keeps its record of changes. Missing if it does not list
   * changes; then everything is compared.
   */
  readonly changesKeptDays?: number
  /** Reads a page of changes to customers, cards and subscriptions since this time. */
  readChanges?(since: Date, after: string | null): Promise<ProviderChangePage>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Reading many customers and subscriptions at a time. */
    readonly lists: AccountLists
  }

  interface ReadingMethods {
    readonly lists: keyof AccountLists
  }
}
