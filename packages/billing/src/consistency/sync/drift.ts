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
    /** Nobody has the customer that is charged for the subscription: the owner in the row has another one, or none. */
    | 'no owner'
  /** What our row said. */
  readonly was: unknown
  /** What the provider says. */
  readonly is: unknown
  /** What the operator can do about it. Missing where `sync()` has done all there is to do. */
  readonly advice?: string
}

/** What `sync()` found, and changed unless it was a dry run. */
export interface DriftReport {
  /** Number of users and other owners that were compared. */
  readonly users: number
  /** Everything that was different. */
  readonly drift: readonly Drift[]
  /** Users and other owners who could not be read, or whose disputes could not, and why. */
  readonly failures: readonly SyncFailure[]
}

/** Something that could not be read. */
export interface SyncFailure {
  /** The owner who could not be read. */
  readonly owner: Owner
  /** The reason, in words. */
  readonly error: string
}

/** Options for `billing.sync()`. */
export interface SyncOptions {
  /** Report the differences, and change nothing. @default false */
  readonly dryRun?: boolean
  /** End the subscriptions of users and other owners that the application has deleted, who would be charged for ever. */
  readonly cancelDeletedUsers?: boolean
  /** End the subscriptions that are reported as `no owner`: nobody has the customer that is charged for them. */
  readonly cancelUnowned?: boolean
}

export function failureOf(owner: Owner, error: unknown): SyncFailure {
  return { owner, error: error instanceof Error ? error.message : String(error) }
}
