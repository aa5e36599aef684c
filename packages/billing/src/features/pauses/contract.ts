/** Treatment of the invoices of a pause. */
export type PausedBills = 'void' | 'keep_as_draft' | 'mark_uncollectible'

/** A pause: invoices are created, but not collected. */
export interface Pause {
  /** When the pause ends by itself. `null` if it does not. */
  readonly until: Date | null
  /** Treatment of the invoices created during the pause. */
  readonly bills: PausedBills
}

/** Pauses of subscriptions. `ProviderSubscription.pause` describes the current one. */
export interface Pauses {
  /** Pauses the subscription. A repeat replaces the pause. */
  pause(id: string, pause: Pause): Promise<void>
  /** Ends the pause. Does nothing if there is none. */
  unpause(id: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Pauses of subscriptions. */
    readonly pauses: Pauses
  }
}
