import type { DunningOptions } from '../state/context.ts'

/** Where Stripe's events are sent. */
export interface WebhookAddress {
  /** `http://127.0.0.1:3000/stripe/webhook` */
  readonly url: string
  /** What its signatures are made with; drawn unless told. */
  readonly secret?: string
  /** All unless told. */
  readonly events?: readonly string[]
}

/** How Stripe starts in a sandbox. */
export interface StripeOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** The secret key calls must carry; `sk_test_tollgate_sandbox` unless told. */
  readonly apiKey?: string
  /** The account's version, for calls that name none and for events; the pinned one unless told. */
  readonly apiVersion?: string
  /** The key that pages carry; `pk_test_tollgate_sandbox` unless told. */
  readonly publishableKey?: string
  /** Where events are sent from the start. One that is registered already stays as it is. */
  readonly webhooks?: readonly WebhookAddress[]
  /** Retries after 3, 5 and 7 days and then cancels, unless told. */
  readonly dunning?: Partial<DunningOptions>
  /** Stripe lists events of the last 30 days; older ones are forgotten after this many. */
  readonly keepEventsForDays?: number
  /** Sends `invoice.upcoming` this many days before a renewal. Off unless set. */
  readonly upcomingInvoiceDays?: number
}
