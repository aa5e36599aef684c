/**
 * Gateway interface for moving the end of a running trial. Gateways that implement it also support
 * `trialEndsAt`, an exact end for new trials.
 */
export interface SubscriptionTrials {
  /**
   * Moves the end of a subscription's trial. `now` ends the trial and charges the customer. Does
   * nothing if the trial is over.
   */
  setEnd(id: string, endsAt: Date | 'now'): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for moving the end of a running trial. */
    readonly trials: SubscriptionTrials
  }
}
