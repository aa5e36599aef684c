import type { ProviderCustomer } from '../customer.ts'
import type { ProviderSubscription } from '../subscription.ts'
import type { ProviderDispute } from './money/disputes.ts'

/** Customers and subscriptions that were read together. Each subscription names its customer. */
export interface AccountPart {
  /** With their cards. */
  readonly customers: readonly ProviderCustomer[]
  /** Ended or not. */
  readonly subscriptions: readonly ProviderSubscription[]
}

/** One page of everything the account has. */
export interface AccountPage extends AccountPart {
  /** The start of the next page; null after the last one. */
  readonly next: string | null
}

/** A dispute as a list has it. */
export type ListedDispute = Pick<ProviderDispute, 'id' | 'customerId' | 'status'>

/** One page of the account's disputes. */
export interface DisputePage {
  /** Decided or not. */
  readonly disputes: readonly ListedDispute[]
  /** The start of the next page; null after the last one. */
  readonly next: string | null
}

/** Something that has changed at the provider. */
export interface ProviderChange {
  /** The customer it is about; null where the provider does not say. */
  readonly customerId: string | null
  /** The subscription it is about; null for none. */
  readonly subscriptionId: string | null
  /** The subscription as it was after this change; missing where that is not known. */
  readonly subscription?: ProviderSubscription
}

/** One page of changes, newest first. */
export interface ChangePage {
  /** Some may be about customers of other applications. */
  readonly changes: readonly ProviderChange[]
  /** The start of the next page; null after the last one. */
  readonly next: string | null
}

/**
 * Reads many customers and subscriptions at a time, so that `sync()` costs pages and not users. A gateway has `readPage` or
 * `readCustomers`. Whatever is not listed is asked for by its id.
 */
export interface AccountLists {
  /** Reads a page of all customers and subscriptions of the account, those of other applications too. */
  readPage?(after: string | null): Promise<AccountPage>
  /** Reads these customers and their subscriptions; up to 100 at a time. Those that are gone are left out. */
  readCustomers?(ids: readonly string[]): Promise<AccountPart>
  /** Reads a page of the account's disputes, decided or not. */
  readDisputes(after: string | null): Promise<DisputePage>
  /** Number of days for which the provider keeps changes. Missing where it lists none: everything is compared then. */
  readonly changesKeptDays?: number
  /** Reads a page of what has changed since then of customers, their cards and subscriptions. */
  readChanges?(since: Date, after: string | null): Promise<ChangePage>
}
