import type { DroppedEvents } from '../resources/dropped-usage.ts'
import type { WireObject } from '../wire/wire-object.ts'

/** What `new Stripe(apiKey, config)` takes to talk to the sandbox. */
export interface StripeSdkConfig {
  /** `127.0.0.1` */
  readonly host: string
  /** Where the sandbox's Stripe listens. */
  readonly port: number
  /** Loopback needs no certificate. */
  readonly protocol: 'http'
  /** Nothing is told to the real Stripe. */
  readonly telemetry: false
}

/** A price with an id of your choice, for `seedPrice()`. */
export interface SeedPrice {
  /** Prices made through the API get random ids; a seeded one may be called `monthly`. */
  readonly id: string
  /** In minor units: 1000 is ten dollars. */
  readonly unitAmount: number
  /** Three letters, lower case; `usd` unless told. */
  readonly currency?: string
  /** Without it the price is charged once. */
  readonly interval?: 'day' | 'week' | 'month' | 'year'
  /** 1 unless told; 3 and `month` is a quarter. */
  readonly intervalCount?: number
  /** The product's name; made when there is none of that id. */
  readonly product?: string
}

/** What the customer types into the checkout page. */
export interface CheckoutInput {
  /**
   * A payment method, or a test value such as `pm_card_visa`, which it is unless told; or a bank account such as
   * `pm_sepaDebit_successDelayed_de`.
   */
  readonly paymentMethod?: string
  /** For a customer that is made by the checkout; the session's own unless told. */
  readonly email?: string
  /** The name on the card, and of a customer that is made. */
  readonly name?: string
  /** The billing address: `country` is two letters. Tax is worked out from it, where the session does so. */
  readonly address?: {
    readonly line1?: string
    readonly city?: string
    readonly state?: string
    readonly postal_code?: string
    readonly country?: string
  }
  /** A code, as people type it; the session must allow that. */
  readonly promotionCode?: string
  /** What goes into the session's `custom_fields`, by their keys. */
  readonly fields?: Readonly<Record<string, string>>
  /** For a session with `tax_id_collection`. */
  readonly taxId?: { readonly type: string; readonly value: string }
}

/** What the cardholder tells the bank, for `disputeCharge()`. */
export interface DisputeInput {
  /** `fraudulent` unless told; such as `product_not_received` or `subscription_canceled`. */
  readonly reason?: string
  /** The bank only asks, and takes no money yet. */
  readonly inquiry?: boolean
}

/** A webhook endpoint, however it was made. */
export interface RegisteredWebhook {
  /** `we_…` */
  readonly id: string
  /** Where it sends. */
  readonly url: string
  /** The types it was made for; `*` is all. */
  readonly events: readonly string[]
  /** What its signatures are checked with. */
  readonly secret: string
}

/**
 * Stripe as a test holds it: the SDK's settings, and a look behind the counter. Objects are as the
 * API would send them without `expand`, and copies: changing one changes nothing.
 */
export interface StripeHandle {
  /** The secret key the SDK must carry. */
  readonly apiKey: string
  /** The key that pages carry. No call of a server takes it. */
  readonly publishableKey: string
  /** The account's version: the one the newest SDK pins, unless the option of that name says another. */
  readonly apiVersion: string
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** `new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)` */
  readonly config: StripeSdkConfig

  /** The customer of this id; for a deleted one what Stripe then says, `deleted: true`. */
  customer(id: string): WireObject | null
  /** The subscription of this id, whatever its status. */
  subscription(id: string): WireObject | null
  /** The subscription schedule of this id, whatever its status. */
  schedule(id: string): WireObject | null
  /** The invoice of this id, whatever its status. */
  invoice(id: string): WireObject | null
  /** The payment intent of this id, whatever its status. */
  paymentIntent(id: string): WireObject | null
  /** The payment method of this id, attached or not. */
  paymentMethod(id: string): WireObject | null
  /** All but the deleted, newest first. */
  customers(): WireObject[]
  /** Of one customer or of all, newest first, those that have ended too. */
  subscriptions(customer?: string): WireObject[]
  /** Of one customer or of all, newest first, drafts too. */
  invoices(customer?: string): WireObject[]
  /** The invoices that are `paid`, newest first. */
  paidInvoices(customer?: string): WireObject[]
  /** Of one customer or of all, newest first, failed ones too. */
  charges(customer?: string): WireObject[]
  /** The dispute of this id, whatever its status. */
  dispute(id: string): WireObject | null
  /** Of one charge or of all, newest first, those that are closed too. */
  disputes(charge?: string): WireObject[]
  /** All that are still kept, or those of one type, oldest first: as they happened. */
  events(type?: string): WireObject[]

  /** Sends every event (or those named) to a URL, as an endpoint made through the API would. */
  registerWebhook(
    url: string,
    events?: readonly string[],
    options?: { readonly secret?: string },
  ): RegisteredWebhook
  /** The endpoints that are enabled, oldest first. */
  webhooks(): RegisteredWebhook[]
  /** A price with an id of your choice, and its product. */
  seedPrice(seed: SeedPrice): WireObject
  /** The customer passes the 3-D Secure challenge of a payment or setup intent. */
  completeAuthentication(intentId: string): WireObject
  /** The customer fails the challenge: the intent wants another payment method. */
  failAuthentication(intentId: string): WireObject
  /**
   * The customer fills in the checkout page and passes what the bank asks; a card that is declined
   * throws, and so does a code that is not good.
   */
  completeCheckout(sessionId: string, options?: CheckoutInput): WireObject
  /** Lets a refund fail after it succeeded, as a bank does days later. The charge can be refunded again. */
  failRefund(refundId: string): WireObject
  /** The cardholder disputes a charge with the bank, as `pm_card_createDispute` does at once. */
  disputeCharge(chargeId: string, options?: DisputeInput): WireObject
  /** The bank decides a dispute; an inquiry is merely closed by it. */
  decideDispute(disputeId: string, outcome: 'won' | 'lost'): WireObject
  /**
   * What Stripe finds out only after it took usage: the customer's is not counted, and webhooks that name
   * `v1.billing.meter.error_report_triggered` are told by an event that is read by its id.
   */
  dropMeterEvents(customer: string, options?: DroppedEvents): WireObject
  /** Stops this server only; closing the sandbox does so too. */
  close(): Promise<void>
}
