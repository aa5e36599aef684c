import type { ProviderName } from '../provider-name.ts'
import type { Owner } from '../values/owner.ts'

/** One thing that was not as the provider has it. */
export interface Drift {
  /** Whose it is. */
  readonly owner: Owner
  /** Where it is different. */
  readonly provider: ProviderName
  /** The subscription or customer. */
  readonly providerId: string
  /** How they differ. */
  readonly what:
    | 'missing row'
    | 'outdated row'
    | 'missing at the provider'
    | 'card'
    /** A charge that was asked back through a bank. */
    | 'dispute'
    /** The application has deleted the user or other owner, and the subscription goes on. */
    | 'user deleted'
  /** What our row said. */
  readonly was: unknown
  /** What the provider says. */
  readonly is: unknown
}

/** What `sync()` found, and changed unless it was a dry run. */
export interface DriftReport {
  /** How many users and other owners were looked at. */
  readonly users: number
  /** Everything that was different. */
  readonly drift: readonly Drift[]
  /** Users and other owners who could not be read, or whose disputes could not, and why. */
  readonly failures: readonly SyncFailure[]
}

/** Somebody who could not be read. */
export interface SyncFailure {
  /** Who. */
  readonly owner: Owner
  /** Why. */
  readonly error: string
}

/** How `sync()` is done. */
export interface SyncOptions {
  /** Only say what is different. */
  readonly dryRun?: boolean
  /** End the subscriptions of users and other owners that the application has deleted, who would be charged for ever. */
  readonly cancelDeletedUsers?: boolean
}

export function failureOf(owner: Owner, error: unknown): SyncFailure {
  return { owner, error: error instanceof Error ? error.message : String(error) }
}
