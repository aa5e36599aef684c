import type { CollectionPause } from '../../providers/subscription.ts'

/**
 * Gateway interface for pausing the collection of payments of a subscription.
 * `ProviderSubscription.pause` describes the current pause.
 */
export interface CollectionPauses {
  /** Pauses the subscription. A repeated call replaces the current pause. */
  pause(id: string, pause: CollectionPause): Promise<void>
  /** Ends the subscription's pause. Does nothing if it is not paused. */
  unpause(id: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for pausing the collection of payments of a subscription. */
    readonly pauses: CollectionPauses
  }
}
