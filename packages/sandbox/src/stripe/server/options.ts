import type { DunningOptions } from '../state/context.ts'

/** A webhook endpoint to register at start-up. */
export interface WebhookAddress {
  /** URL that events are sent to, such as `http://127.0.0.1:3000/stripe/webhook`. */
  readonly url: string
  /** Signing secret. Generated if absent. */
  readonly secret?: string
  /** Event types to send. Defaults to all. */
  readonly events?: readonly string[]
}

/** Options of the sandbox's Stripe. */
export interface StripeOptions {
  /**
   * Port to listen on. 0 takes a free port.
   * @default 0
   */
  readonly port?: number
  /**
   * Secret API key that calls must send.
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
   * Webhook endpoints to register at start-up. An endpoint already registered for the URL stays
   * unchanged, unless `secret` differs: then it is replaced.
   */
  readonly webhooks?: readonly WebhookAddress[]
  /**
   * How failed renewals are retried. By default after 3, 5 and 7 days; then the subscription is
   * canceled.
   */
  readonly dunning?: Partial<DunningOptions>
  /**
   * Days after which events are deleted. Stripe lists events of the last 30 days.
   * @default 30
   */
  readonly keepEventsForDays?: number
  /** Days before a renewal on which `invoice.upcoming` is sent. Not sent if absent. */
  readonly upcomingInvoiceDays?: number
}
