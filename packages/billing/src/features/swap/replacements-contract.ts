import type { ProviderSubscription } from '../../providers/subscription.ts'
import type { NewReplacement, SwapRequest } from './contract.ts'

/**
 * Gateway interface for swaps that the provider cannot make by changing the existing subscription.
 */
export interface SubscriptionReplacements {
  /**
   * Whether the provider can make this swap only by a new subscription that replaces the old one.
   */
  isNeeded(id: string, swap: SwapRequest, now: Date): Promise<boolean>
  /** Creates the new subscription for a swap. The caller cancels the old one afterwards. */
  create(id: string, swap: SwapRequest, at: NewReplacement): Promise<ProviderSubscription>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for swaps that replace the old subscription by a new one. */
    readonly replacements: SubscriptionReplacements
  }

  interface ReadOnlyMethods {
    readonly replacements: 'isNeeded'
  }
}
