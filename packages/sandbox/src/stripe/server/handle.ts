import type { CheckoutInput } from '../resources/checkout-completion.ts'
import type { DroppedEvents } from '../resources/dropped-usage.ts'
import type { WireObject } from '../wire/wire-object.ts'

export type { CheckoutInput } from '../resources/checkout-completion.ts'

/** Options for `new Stripe(apiKey, config)` that connect the SDK to the sandbox. */
export interface StripeSdkConfig {
  /** Host of the sandbox's Stripe server, always `127.0.0.1`. */
  readonly host: string
  /** Port of the sandbox's Stripe server. */
  readonly port: number
  /** Always `http`: connections to the sandbox on loopback need no certificate. */
  readonly protocol: 'http'
  /** Always `false`: the SDK must not send telemetry to the real Stripe. */
  readonly telemetry: false
}

/** A price to create with `seedPrice()`. */
export interface SeedPrice {
  /**
   * Id of the price, such as `monthly`. (Prices that are created through the API get generated
   * ids.)
   */
  readonly id: string
  /**
   * Amount in minor units: 1000 is ten dollars. It is charged per unit. As text it may have
   * decimals. Leave it out for a price with tiers.
   */
  readonly unitAmount?: number | string
  /** Prices by quantity or usage, in ascending order. The last tier has `upTo: null`. */
  readonly tiers?: readonly SeedTier[]
  /**
   * How tiers are charged: each unit at the price of its tier, or all units at the price of the
   * tier that the quantity reaches.
   * @default 'graduated'
   */
  readonly tiersMode?: 'graduated' | 'volume'
  /** Number of units that `unitAmount` pays for, rounded up. @default 1 */
  readonly packageSize?: number
  /**
   * Event name of the meter that counts the usage, for a price that is charged by usage. The meter
   * is created if there is none.
   */
  readonly meter?: string
  /**
   * Three-letter currency code in lower case.
   * @default 'usd'
   */
  readonly currency?: string
  /** Billing interval of the price. Without an interval, the price is charged once. */
  readonly interval?: 'day' | 'week' | 'month' | 'year'
  /**
   * Number of intervals between charges: 3 with `month` bills quarterly.
   * @default 1
   */
  readonly intervalCount?: number
  /**
   * Id of the product. If the product does not exist, it is created with this id as its name. By
   * default the product is `prod_<id>`, with the price's id as its name.
   */
  readonly product?: string
}

/** A tier of a price to create with `seedPrice()`. */
export interface SeedTier {
  /** The last unit of the tier. `null` for the last tier. */
  readonly upTo: number | null
  /** Price of each unit in minor units. As text it may have decimals. */
  readonly unitAmount?: number | string
  /** Flat price of the tier in minor units. */
  readonly flatAmount?: number | string
}

/** Options of `disputeCharge()`. */
export interface DisputeInput {
  /**
   * Stripe's dispute reason, such as `product_not_received` or `subscription_canceled`.
   * @default 'fraudulent'
   */
  readonly reason?: string
  /**
   * Whether the dispute is only an inquiry, for which no money is withdrawn yet.
   * @default false
   */
  readonly inquiry?: boolean
}

/**
 * A webhook endpoint that was created through the API, by the option `webhooks`, or by the handle.
 */
export interface RegisteredWebhook {
  /** Id of the webhook endpoint, `we_…`. */
  readonly id: string
  /** URL of the webhook endpoint, to which events are sent. */
  readonly url: string
  /** Types of events that are sent to the webhook endpoint; `*` means all. */
  readonly events: readonly string[]
  /**
   * Signing secret of the webhook endpoint (`whsec_…`), with which the receiver verifies
   * signatures.
   */
  readonly secret: string
}

/**
 * Controls the sandbox's Stripe from a test: provides settings for the SDK, and direct access to
 * the state. Objects are returned as copies, in the format of the API without `expand`.
 */
export interface StripeHandle {
  /** Secret API key for the SDK. */
  readonly apiKey: string
  /** Publishable API key for web pages. Server-side calls do not accept it. */
  readonly publishableKey: string
  /**
   * The account's default API version: the version of the newest supported SDK, unless the option
   * `apiVersion` names another.
   */
  readonly apiVersion: string
  /** Base URL of the sandbox's Stripe API, `http://127.0.0.1:<port>`. */
  readonly url: string
  /** Settings for the SDK: `new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)`. */
  readonly config: StripeSdkConfig

  /**
   * Returns the customer with this id, or `null`. A deleted customer has `deleted: true`, as at
   * Stripe.
   */
  customer(id: string): WireObject | null
  /** Returns the subscription with this id in any status, or `null`. */
  subscription(id: string): WireObject | null
  /** Returns the subscription schedule with this id in any status, or `null`. */
  schedule(id: string): WireObject | null
  /** Returns the invoice with this id in any status, or `null`. */
  invoice(id: string): WireObject | null
  /** Returns the payment intent with this id in any status, or `null`. */
  paymentIntent(id: string): WireObject | null
  /** Returns the payment method with this id, attached or not, or `null`. */
  paymentMethod(id: string): WireObject | null
  /** Returns all customers that have not been deleted, newest first. */
  customers(): WireObject[]
  /**
   * Returns the subscriptions of a customer, or of all customers, newest first. Includes ended
   * subscriptions.
   */
  subscriptions(customer?: string): WireObject[]
  /** Returns the invoices of a customer, or of all customers, newest first. Includes drafts. */
  invoices(customer?: string): WireObject[]
  /**
   * Returns the invoices with the status `paid` of a customer, or of all customers, newest first.
   */
  paidInvoices(customer?: string): WireObject[]
  /**
   * Returns the charges of a customer, or of all customers, newest first. Includes failed charges.
   */
  charges(customer?: string): WireObject[]
  /** Returns the dispute with this id in any status, or `null`. */
  dispute(id: string): WireObject | null
  /**
   * Returns the disputes of a charge, or of all charges, newest first. Includes closed disputes.
   */
  disputes(charge?: string): WireObject[]
  /** Returns the stored events of one type, or of all types, oldest first. */
  events(type?: string): WireObject[]

  /**
   * Creates a webhook endpoint, like one that is created through the API. It receives all events,
   * or only those of the given types.
   * @example
   * ```ts
   * const { secret } = sandbox.stripe.registerWebhook('http://127.0.0.1:3000/stripe/webhook', [
   *   'invoice.paid',
   *   'invoice.payment_failed',
   * ])
   * ```
   */
  registerWebhook(
    url: string,
    events?: readonly string[],
    options?: { readonly secret?: string },
  ): RegisteredWebhook
  /** Returns the enabled webhook endpoints, oldest first. */
  webhooks(): RegisteredWebhook[]
  /**
   * Creates a price with a chosen id, and its product if it does not exist.
   * @example
   * ```ts
   * sandbox.stripe.seedPrice({ id: 'monthly', unitAmount: 1000, interval: 'month' })
   * ```
   */
  seedPrice(seed: SeedPrice): WireObject
  /**
   * Passes the 3-D Secure challenge of a payment intent or setup intent, as the customer would.
   * @example
   * ```ts
   * const intent = await stripe.paymentIntents.create({
   *   amount: 1000,
   *   currency: 'usd',
   *   payment_method: 'pm_card_authenticationRequired',
   *   confirm: true,
   *   return_url: 'https://shop.test/done',
   * }) // status: requires_action
   * sandbox.stripe.completeAuthentication(intent.id) // status: succeeded
   * ```
   */
  completeAuthentication(intentId: string): WireObject
  /**
   * Fails the 3-D Secure challenge of a payment intent or setup intent. The intent then requires
   * another payment method.
   */
  failAuthentication(intentId: string): WireObject
  /**
   * Completes a checkout session as the customer would on its page. A 3-D Secure challenge is
   * passed.
   * @throws {Error} If the card is declined or the promotion code is invalid.
   */
  completeCheckout(sessionId: string, options?: CheckoutInput): WireObject
  /**
   * Makes a refund fail after it has succeeded, as a bank may do days later. The charge can then be
   * refunded again.
   */
  failRefund(refundId: string): WireObject
  /** Opens a dispute about a charge, as the test card `pm_card_createDispute` does immediately. */
  disputeCharge(chargeId: string, options?: DisputeInput): WireObject
  /** Decides a dispute as the bank would. An inquiry is closed, whatever the outcome is. */
  decideDispute(disputeId: string, outcome: 'won' | 'lost'): WireObject
  /**
   * Simulates usage that Stripe accepts and rejects later: removes all meter events of the customer
   * from the usage. Reports this by the thin event `v1.billing.meter.error_report_triggered` to
   * thin event destinations, and to webhook endpoints that list this event type. Returns the thin
   * event.
   */
  dropMeterEvents(customer: string, options?: DroppedEvents): WireObject
  /** Stops the sandbox's Stripe server only. Closing the sandbox stops it too. */
  close(): Promise<void>
}
