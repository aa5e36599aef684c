/** How Stripe collects after a failed renewal; the dashboard's settings. */
export interface DunningOptions {
  /** Days from one failed attempt to the next. */
  readonly retryAfterDays: readonly number[]
  /** What becomes of the subscription after the last retry. */
  readonly afterLastRetry: 'cancel' | 'unpaid' | 'past_due'
}

export interface StripeOptions {
  /** The secret key calls must carry. */
  readonly apiKey?: string
  readonly dunning?: Partial<DunningOptions>
  /** Stripe lists events of the last 30 days; older ones are forgotten after this many. */
  readonly keepEventsForDays?: number
  /** Sends `invoice.upcoming` this many days before a renewal. Off unless set. */
  readonly upcomingInvoiceDays?: number
}
