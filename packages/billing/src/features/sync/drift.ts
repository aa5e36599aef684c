import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'

/** One difference between our rows and the provider. */
export interface Drift {
  /** The owner that the row or the customer belongs to. */
  readonly owner: Owner
  /** The provider of the subscription, customer or dispute. */
  readonly provider: ProviderName
  /** The provider's id of the subscription, customer or dispute. */
  readonly providerId: string
  /** The kind of difference. */
  readonly what:
    | 'missing row'
    | 'outdated row'
    | 'missing at the provider'
    | 'card'
    /** A charge that the customer disputed with the bank. */
    | 'dispute'
    /** The row names another owner than the one that has the customer. `sync()` moves it there. */
    | 'other owner'
    /** The application has deleted the user or other owner, but the subscription still runs. */
    | 'user deleted'
    /**
     * The charged customer belongs to no owner: the owner in the row has another customer or none.
     */
    | 'no owner'
  /** The state in our row. */
  readonly was: unknown
  /** The state at the provider. */
  readonly is: unknown
  /**
   * A remedy that the operator has to choose. Missing where `sync()` has repaired the difference.
   */
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

/** The result of `billing.sync()`: the differences, and whether it is complete. */
export interface SyncReport extends DriftReport {
  /**
   * Whether every list of the provider was read to its end. If not, `sync({ resume: true })`
   * continues from there. Single owners that could not be read are in `failures`; the next `sync()`
   * or `user.sync()` reads them again.
   */
  readonly complete: boolean
}

/** Something that could not be read. */
export interface SyncFailure {
  /** The owner that could not be read. `null` for a list of the provider. */
  readonly owner: Owner | null
  /** Description of the error. */
  readonly error: string
}

/** Options for `billing.sync()`. */
export interface SyncOptions {
  /** Whether to report the differences without changing anything. @default false */
  readonly dryRun?: boolean
  /**
   * Whether to cancel the subscriptions of users and other owners that the application has deleted,
   * which would otherwise be charged forever.
   * @default false
   */
  readonly cancelDeletedUsers?: boolean
  /**
   * Whether to cancel the subscriptions that are reported as `no owner`, whose customer belongs to
   * no owner.
   * @default false
   */
  readonly cancelUnowned?: boolean
  /**
   * Compares only what changed at the provider since this time. Everything is compared if the
   * provider does not keep changes that long: Stripe keeps them for 30 days, Braintree does not
   * keep any.
   */
  readonly since?: Date
  /**
   * Whether to continue where the last `sync()` stopped, with its `since`. The position is stored
   * in the database, so it survives a killed process. Starts from the beginning if there is none. A
   * dry run stores no position.
   * @default false
   */
  readonly resume?: boolean
}

export function failureOf(owner: Owner | null, error: unknown): SyncFailure {
  return { owner, error: error instanceof Error ? error.message : String(error) }
}
