import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'

/** A difference between our database and the provider. */
export interface Drift {
  /** The owner (user or team) of the subscription, customer or dispute. */
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
    /**
     * The row belongs to a different owner than the customer at the provider. `sync()` moves the row
     * to the owner of the customer.
     */
    | 'other owner'
    /** The application has deleted the user or other owner, but the subscription still runs. */
    | 'user deleted'
    /**
     * The charged customer belongs to no owner: the owner in the row has another customer or none.
     */
    | 'no owner'
  /** The state in our database. */
  readonly was: unknown
  /** The state at the provider. */
  readonly is: unknown
  /**
   * Advice on how to repair the difference, if an operator has to decide that. Left out if `sync()`
   * repairs the difference.
   */
  readonly advice?: string
}

/** The differences that `sync()` found, and repaired unless it was a dry run. */
export interface DriftReport {
  /** Number of users and other owners that were compared. */
  readonly users: number
  /** All differences that were found. */
  readonly drift: readonly Drift[]
  /** Users and other owners that could not be compared completely, each with the error. */
  readonly failures: readonly SyncFailure[]
}

/** The result of `billing.sync()`: the differences, and whether the comparison is complete. */
export interface SyncReport extends DriftReport {
  /**
   * Whether every list of the provider was read to its end. If not, `sync({ resume: true })`
   * continues from there. Single owners that could not be read do not count here: they are in
   * `failures`, and the next `sync()` or `user.sync()` reads them again.
   */
  readonly complete: boolean
}

/** An owner, or a list of the provider, that `sync()` could not read. */
export interface SyncFailure {
  /** The owner that could not be read. `null` if a list of the provider could not be read. */
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
   * Whether to cancel the subscriptions that are reported as `no owner`, because no user or team
   * has their customer any more.
   * @default false
   */
  readonly cancelUnowned?: boolean
  /**
   * Limits the comparison to customers and subscriptions that changed at the provider since this
   * time. If the provider's log of changes does not reach back that far, everything is compared:
   * Stripe keeps it for 30 days, Braintree has none.
   */
  readonly since?: Date
  /**
   * Whether to continue where the last `sync()` stopped, with its value of `since`. The position is
   * stored in the database, so it survives a crash. If none is stored, `sync()` starts from the
   * beginning. A dry run stores no position.
   * @default false
   */
  readonly resume?: boolean
}

export function toSyncFailure(owner: Owner | null, error: unknown): SyncFailure {
  return { owner, error: error instanceof Error ? error.message : String(error) }
}
