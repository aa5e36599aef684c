import type { ProviderSubscription } from '../../providers/subscription.ts'
import type { Replacement, Swap } from './contract.ts'

/** Swaps that the provider cannot make in place. */
export interface Replacements {
  /** Whether this swap needs a new subscription at the provider. */
  isNeeded(id: string, swap: Swap, now: Date): Promise<boolean>
  /** Creates the new subscription. The caller cancels the old one afterwards. */
  create(id: string, swap: Swap, at: Replacement): Promise<ProviderSubscription>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Swaps that need a new subscription in place of the old one. */
    readonly replacements: Replacements
  }

  interface ReadingMethods {
    readonly replacements: 'isNeeded'
  }
}
