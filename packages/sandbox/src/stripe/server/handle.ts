import type { CheckoutInput } from '../resources/checkout-completion.ts'
import type { DroppedEvents } from '../resources/dropped-usage.ts'
import type { WireObject } from '../wire/wire-object.ts'

export type { CheckoutInput } from '../resources/checkout-completion.ts'

/** Settings for `new Stripe(apiKey, config)` that connect the SDK to the sandbox. */
export interface StripeSdkConfig {
  /** Loopback address, `127.0.0.1`. */
  readonly host: string
  /** Port of the sandbox's Stripe server. */
  readonly port: number
  /** Always `http`: loopback connections need no certificate. */
  readonly protocol: 'http'
  /** Turns off the SDK's telemetry to the real Stripe. */
  readonly telemetry: false
}

/** A price for `seedPrice()`. */
export interface SeedPrice {
  /** Id of the price, such as `monthly`. Prices created through the API get generated ids. */
  readonly id: string
  /** Amount in minor units: 1000 is ten dollars. */
  readonly unitAmount: number
  /**
   * Three-letter currency code in lower case.
   * @default 'usd'
   */
  readonly currency?: string
  /** Billing interval. Without it the price is charged once. */
  readonly interval?: 'day' | 'week' | 'month' | 'year'
  /**
   * Number of intervals between charges: 3 with `month` bills quarterly.
   * @default 1
   */
  readonly intervalCount?: number
  /**
   * Id of the product, which is created with this name if it does not exist. By default a product
   * `prod_<id>` with the price's id as its name.
   */
  readonly product?: string
}

/** Details of a dispute for `disputeCharge()`. */
export interface DisputeInput {
  /**
   * Stripe's dispute reason, such as `product_not_received` or `subscription_canceled`.
   * @default 'fraudulent'
   */
  readonly reason?: string
  /**
   * Whether this is only an inquiry, for which no money is withdrawn yet.
   * @default false
   */
  readonly inquiry?: boolean
}

/** A webhook endpoint, created through the API, by an option or by the handle. */
export interface RegisteredWebhook {
  /** Id of the endpoint, `we_…`. */
  readonly id: string
  /** URL that events are sent to. */
  readonly url: string
  /** Event types sent to the endpoint; `*` means all. */
  readonly events: readonly string[]
  /** Signing secret, `whsec_…`, to verify signatures with. */
  readonly secret: string
}

/**
 * The sandbox's Stripe: settings for the SDK, and direct access to the state for tests. Objects are
 * returned as copies, in the format of the API without `expand`.
 */
export interface StripeHandle {
  /** Secret API key for the SDK. */
  readonly apiKey: string
  /** Publishable API key for web pages. Server-side calls do not accept it. */
  readonly publishableKey: string
  /**
   * The account's default API version: that of the newest supported SDK, unless the `apiVersion`
   * option names another.
   */
  readonly apiVersion: string
  /** Base URL of the API, `http://127.0.0.1:<port>`. */
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
  /** Returns the subscriptions of one customer or of all, newest first, including ended ones. */
  subscriptions(customer?: string): WireObject[]
  /** Returns the invoices of one customer or of all, newest first, including drafts. */
  invoices(customer?: string): WireObject[]
  /** Returns the invoices in status `paid` of one customer or of all, newest first. */
  paidInvoices(customer?: string): WireObject[]
  /** Returns the charges of one customer or of all, newest first, including failed ones. */
  charges(customer?: string): WireObject[]
  /** Returns the dispute with this id in any status, or `null`. */
  dispute(id: string): WireObject | null
  /** Returns the disputes of one charge or of all, newest first, including closed ones. */
  disputes(charge?: string): WireObject[]
  /** Returns the stored events of one type or of all, oldest first. */
  events(type?: string): WireObject[]

  /**
   * Registers a webhook endpoint for all events, or for the given types, as one created through the
   * API.
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
  /** Fails the 3-D Secure challenge of an intent. It then requires another payment method. */
  failAuthentication(intentId: string): WireObject
  /**
   * Completes a checkout session as the customer would on its page, including a 3-D Secure
   * challenge.
   * @throws {Error} If the card is declined or the promotion code is invalid.
   */
  completeCheckout(sessionId: string, options?: CheckoutInput): WireObject
  /**
   * Makes a succeeded refund fail, as a bank may do days later. The charge can then be refunded
   * again.
   */
  failRefund(refundId: string): WireObject
  /** Opens a dispute of a charge, as a charge with `pm_card_createDispute` does immediately. */
  disputeCharge(chargeId: string, options?: DisputeInput): WireObject
  /** Decides a dispute as the bank would. An inquiry is closed whatever the outcome. */
  decideDispute(disputeId: string, outcome: 'won' | 'lost'): WireObject
  /**
   * Simulates usage that Stripe rejects after accepting it: removes the customer's meter events
   * from the count, and notifies webhook endpoints that name
   * `v1.billing.meter.error_report_triggered` with a thin event. Returns that event.
   */
  dropMeterEvents(customer: string, options?: DroppedEvents): WireObject
  /** Stops this server only. `sandbox.close()` does so too. */
  close(): Promise<void>
}
