import type { ProviderName } from '../../provider-name.ts'
import type { Owner } from '../../values/owner.ts'

/** One difference between our rows and the provider. */
export interface Drift {
  /** The owner that the row or the customer belongs to. */
  readonly owner: Owner
  /** The provider of the subscription, customer or dispute. */
  readonly provider: ProviderName
  /** The provider's id of the subscription, customer or dispute. */
  readonly providerId: string
  /** How they differ. */
  readonly what:
    | 'missing row'
    | 'outdated row'
    | 'missing at the provider'
    | 'card'
    /** A charge that was asked back through a bank. */
    | 'dispute'
    /** The row names another owner than the one who has the customer. `sync()` gives it to that owner. */
    | 'other owner'
    /** The application has deleted the user or other owner, and the subscription goes on. */
    | 'user deleted'
    /** No owner has the customer that is charged for the subscription: the owner in the row has another one, or none. */
    | 'no owner'
  /** The state in our row. */
  readonly was: unknown
  /** The state at the provider. */
  readonly is: unknown
  /** A remedy that the operator has to choose. Missing where `sync()` has repaired the difference. */
  readonly advice?: string
}

/** The differences that `sync()` found, and repaired unless it was a dry run. */
export interface DriftReport {
  /** Number of users and other owners that were compared. */
  readonly users: number
  /** Everything that was different. */
  readonly drift: readonly Drift[]
  /** Users and other owners who could not be read, or whose disputes could not, and why. */
  readonly failures: readonly SyncFailure[]
}

/** The result of `billing.sync()`: the differences, and whether it came to its end. */
export interface SyncReport extends DriftReport {
  /**
   * Whether every list of the provider was read to its end. If not, `sync({ resume: true })` goes on from there. Single
   * owners who could not be read are in `failures`; the next `sync()`, or `user.sync()`, reads them again.
   */
  readonly complete: boolean
}

/** Something that could not be read. */
export interface SyncFailure {
  /** The owner who could not be read; null where a list of the provider could not. */
  readonly owner: Owner | null
  /** The reason, in words. */
  readonly error: string
}

/** Options for `billing.sync()`. */
export interface SyncOptions {
  /** Report the differences, and change nothing. @default false */
  readonly dryRun?: boolean
  /** End the subscriptions of users and other owners that the application has deleted, who would be charged for ever. */
  readonly cancelDeletedUsers?: boolean
  /** End the subscriptions that are reported as `no owner`: no owner has the customer that is charged for them. @default false */
  readonly cancelUnowned?: boolean
  /**
   * Compare only what has changed at the provider since then. Everything is compared at a provider that does not keep changes
   * for so long: Stripe keeps them for 30 days, Braintree not at all.
   */
  readonly since?: Date
  /**
   * Go on where the last `sync()` was stopped, with its `since`. Its place is kept in the database, also when its process was
   * killed. Begins anew where there is none. A dry run keeps no place.
   * @default false
   */
  readonly resume?: boolean
}

export function failureOf(owner: Owner | null, error: unknown): SyncFailure {
  return { owner, error: error instanceof Error ? error.message : String(error) }
}
