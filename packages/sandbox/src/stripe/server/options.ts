import type { DunningOptions } from '../state/context.ts'

/** A webhook endpoint to register at start-up. */
export interface WebhookAddress {
  /**
   * URL of the webhook endpoint, to which events are sent, such as
   * `http://127.0.0.1:3000/stripe/webhook`.
   */
  readonly url: string
  /** Signing secret of the webhook endpoint. By default it is generated. */
  readonly secret?: string
  /** Types of events that are sent to the webhook endpoint. By default all types. */
  readonly events?: readonly string[]
}

/** Options of the sandbox's Stripe. */
export interface StripeOptions {
  /**
   * Port of the Stripe server. 0 takes a free port.
   * @default 0
   */
  readonly port?: number
  /**
   * Secret API key, which API calls must send.
   * @default 'sk_test_tollgate_sandbox'
   */
  readonly apiKey?: string
  /**
   * The account's default API version, for events and for calls without a `Stripe-Version` header.
   * Defaults to the version of the newest supported SDK.
   */
  readonly apiVersion?: string
  /**
   * Publishable API key for web pages.
   * @default 'pk_test_tollgate_sandbox'
   */
  readonly publishableKey?: string
  /**
   * Webhook endpoints to register at start-up. If an endpoint is already registered for the URL, it
   * is kept, unless `secret` differs: then it is replaced.
   */
  readonly webhooks?: readonly WebhookAddress[]
  /**
   * How failed renewals are retried. By default, the charge is retried after 3, 5 and 7 days, and
   * then the subscription is canceled.
   */
  readonly dunning?: Partial<DunningOptions>
  /**
   * Number of days after which events are deleted. Stripe lists the events of the last 30 days.
   * @default 30
   */
  readonly keepEventsForDays?: number
  /**
   * Number of days before a renewal at which `invoice.upcoming` is sent. By default it is not sent.
   */
  readonly upcomingInvoiceDays?: number
}
