import type { ProviderCustomer } from '../../providers/customer.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import type { ProviderDispute } from '../disputes/contract.ts'

/**
 * Customers and subscriptions of the provider account that were read together. Each subscription
 * names its customer.
 */
export interface AccountData {
  /** The customers, with their default cards. */
  readonly customers: readonly ProviderCustomer[]
  /** The subscriptions of these customers, including ended ones. */
  readonly subscriptions: readonly ProviderSubscription[]
}

/** One page of all customers and subscriptions of the provider account. */
export interface AccountPage extends AccountData {
  /** Cursor for the next page. `null` after the last one. */
  readonly next: string | null
}

/** The fields of a dispute that the provider's list of disputes contains. */
export type ListedDispute = Pick<ProviderDispute, 'id' | 'customerId' | 'status'>

/** One page of the disputes in the provider account. */
export interface DisputePage {
  /** Open and decided disputes. */
  readonly disputes: readonly ListedDispute[]
  /** Cursor for the next page. `null` after the last one. */
  readonly next: string | null
}

/** A change of a customer, card or subscription, as recorded in the provider's event log. */
export interface ProviderChange {
  /** The provider's id of the customer that changed. `null` if the provider does not report it. */
  readonly customerId: string | null
  /**
   * The provider's id of the subscription that changed. `null` if the change is not about a
   * subscription.
   */
  readonly subscriptionId: string | null
  /** The subscription after this change. Missing if unknown. */
  readonly subscription?: ProviderSubscription
}

/** One page of the provider's log of changes in the account, newest first. */
export interface ProviderChangePage {
  /** The changes. Some may concern customers of other applications. */
  readonly changes: readonly ProviderChange[]
  /** Cursor for the next page. `null` after the last one. */
  readonly next: string | null
}

/**
 * Gateway interface for reading many customers and subscriptions at a time, so that `sync()` needs
 * one request per page and not one per user. A gateway implements either `readPage()` or
 * `readCustomers()`. Objects that they do not list are read one by one.
 */
export interface AccountLists {
  /**
   * Reads a page of all customers and subscriptions of the account, including those of other
   * applications.
   */
  readPage?(after: string | null): Promise<AccountPage>
  /**
   * Reads these customers (at most 100) and their subscriptions. Deleted customers are left out.
   */
  readCustomers?(ids: readonly string[]): Promise<AccountData>
  /** Reads a page of the account's disputes, open and decided ones. */
  readDisputes(after: string | null): Promise<DisputePage>
  /**
   * Number of days for which the provider keeps its log of changes. Left out if the provider does
   * not list changes: `sync()` then compares everything.
   */
  readonly changesKeptDays?: number
  /** Reads a page of the changes to customers, cards and subscriptions since this time. */
  readChanges?(since: Date, after: string | null): Promise<ProviderChangePage>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for reading many customers and subscriptions at a time. */
    readonly lists: AccountLists
  }

  interface ReadOnlyMethods {
    readonly lists: keyof AccountLists
  }
}
