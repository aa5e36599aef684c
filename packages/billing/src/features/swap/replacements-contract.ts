import type { ProviderSubscription } from '../../providers/subscription.ts'
import type { NewReplacement, Swap } from './contract.ts'

/**
 * Gateway interface for swaps that the provider cannot make by changing the existing subscription.
 */
export interface Replacements {
  /** Whether this swap needs a new subscription at the provider, which replaces the old one. */
  isNeeded(id: string, swap: Swap, now: Date): Promise<boolean>
  /** Creates the new subscription for a swap. The caller cancels the old one afterwards. */
  create(id: string, swap: Swap, at: NewReplacement): Promise<ProviderSubscription>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Swaps that need a new subscription in place of the old one. */
    readonly replacements: Replacements
  }

  interface ReadOnlyMethods {
    readonly replacements: 'isNeeded'
  }
}
