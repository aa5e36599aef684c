import type { ProviderSubscription } from '../../subscription.ts'
import type { Replacement, Swap } from '../../swap.ts'

/** Swaps that cannot be made in place. */
export interface Replacements {
  /** Whether this swap needs a new subscription at the provider. */
  isNeeded(id: string, swap: Swap, now: Date): Promise<boolean>
  /** Makes the new subscription; the old one is cancelled by the caller once it stands. */
  create(id: string, swap: Swap, at: Replacement): Promise<ProviderSubscription>
}
