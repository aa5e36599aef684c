/** Ends subscriptions on any day. `ProviderSubscription.endsAt` shows the date. */
export interface EndDates {
  /**
   * Sets the end date and replaces any other one. With `prorate`, credits paid time after the end;
   * time that is not paid is never credited.
   */
  set(id: string, at: Date, options: { readonly prorate: boolean }): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Ending subscriptions on any day. */
    readonly endDates: EndDates
  }
}
