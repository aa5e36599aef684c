import type { WireObject } from '../wire/wire-object.ts'

/** What `new Stripe(apiKey, config)` takes to talk to the sandbox. */
export interface StripeSdkConfig {
  readonly host: string
  readonly port: number
  readonly protocol: 'http'
  readonly telemetry: false
}

export interface SeedPrice {
  /** Prices made through the API get random ids; a seeded one may be called `monthly`. */
  readonly id: string
  readonly unitAmount: number
  readonly currency?: string
  readonly interval?: 'day' | 'week' | 'month' | 'year'
  readonly intervalCount?: number
  /** The product's name; made when there is none of that id. */
  readonly product?: string
}

/** Stripe as a test holds it: the SDK's settings, and a look behind the counter. */
export interface StripeHandle {
  readonly apiKey: string
  readonly apiVersion: string
  readonly url: string
  /** `new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)` */
  readonly config: StripeSdkConfig

  customer(id: string): WireObject | null
  subscription(id: string): WireObject | null
  invoice(id: string): WireObject | null
  paymentIntent(id: string): WireObject | null
  paymentMethod(id: string): WireObject | null
  /** Lists are newest first. */
  customers(): WireObject[]
  subscriptions(customer?: string): WireObject[]
  invoices(customer?: string): WireObject[]
  paidInvoices(customer?: string): WireObject[]
  charges(customer?: string): WireObject[]
  /** Oldest first, as they happened. */
  events(type?: string): WireObject[]

  /** Sends every event (or those named) to a URL, as an endpoint made through the API would. */
  registerWebhook(url: string, events?: readonly string[]): { id: string; secret: string }
  /** A price with an id of your choice, and its product. */
  seedPrice(seed: SeedPrice): WireObject
  /** The customer passes the 3-D Secure challenge of a payment or setup intent. */
  completeAuthentication(intentId: string): WireObject
  failAuthentication(intentId: string): WireObject
  /** The customer fills in the checkout page. */
  completeCheckout(
    sessionId: string,
    options?: { paymentMethod?: string; email?: string },
  ): WireObject
  close(): Promise<void>
}
