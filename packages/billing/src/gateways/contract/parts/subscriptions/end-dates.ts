/** Subscriptions that end on any day. It is told by `ProviderSubscription.endsAt`. */
export interface EndDates {
  /** In place of any other end. What is paid for after it is credited where `prorate` says so; what nobody has paid is not. */
  set(id: string, at: Date, options: { readonly prorate: boolean }): Promise<void>
}
