import type { ProviderName } from '../provider-name.ts'

/** One thing that was not as the provider has it. */
export interface Drift {
  /** Whose it is. */
  readonly userId: string | number
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
    /** The application has deleted the user, and the subscription goes on. */
    | 'user deleted'
  /** What our row said. */
  readonly was: unknown
  /** What the provider says. */
  readonly is: unknown
}

/** What `sync()` found, and changed unless it was a dry run. */
export interface DriftReport {
  /** How many users were looked at. */
  readonly users: number
  /** Everything that was different. */
  readonly drift: readonly Drift[]
  /** Users that could not be read, and why. */
  readonly failures: readonly { readonly userId: string | number; readonly error: string }[]
}

/** How `sync()` is done. */
export interface SyncOptions {
  /** Only say what is different. */
  readonly dryRun?: boolean
  /** End the subscriptions of users that the application has deleted, who would be charged for ever. */
  readonly cancelDeletedUsers?: boolean
}
