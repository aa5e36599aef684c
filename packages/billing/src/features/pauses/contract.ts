/**
 * Treatment of the invoices created while a subscription is paused. `void`: they are never paid.
 * `keep_as_draft`: they can be sent later. `mark_uncollectible`: they are written off.
 */
export type PausedBills = 'void' | 'keep_as_draft' | 'mark_uncollectible'

/** A pause of a subscription: invoices are still created, but no payment is collected. */
export interface CollectionPause {
  /** When the pause ends automatically. `null` if it lasts until `unpause()` is called. */
  readonly until: Date | null
  /** Treatment of the invoices created during the pause. */
  readonly bills: PausedBills
}

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
    /** Pauses of subscriptions. */
    readonly pauses: CollectionPauses
  }
}
