/**
 * Gateway interface for ending subscriptions on any day. `ProviderSubscription.endsAt` returns the
 * date.
 */
export interface EndDates {
  /**
   * Sets the end date of a subscription, and replaces an earlier end date. With `prorate`, credits
   * the paid time after the end; unpaid time is never credited.
   */
  set(id: string, at: Date, options: { readonly prorate: boolean }): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for ending subscriptions on any day. */
    readonly endDates: EndDates
  }
}
