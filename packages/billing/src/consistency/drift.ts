import type { ProviderName } from '../provider-name.ts'

/** One thing that was not as the provider has it. */
export interface Drift {
  readonly userId: string | number
  readonly provider: ProviderName
  /** The subscription or customer. */
  readonly providerId: string
  readonly what:
    | 'missing row'
    | 'outdated row'
    | 'missing at the provider'
    | 'card'
    /** The application has deleted the user, and the subscription goes on. */
    | 'user deleted'
  readonly was: unknown
  readonly is: unknown
}

export interface DriftReport {
  readonly users: number
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
