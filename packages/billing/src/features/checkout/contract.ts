import type { Money } from '../../core/values/money.ts'
import type { BasisPoints } from '../../core/values/tax.ts'
import type { TaxChoice } from '../../providers/subscription.ts'

/** One line of a hosted page: a price defined at the provider, or an amount with a name. */
export type CheckoutLine = {
  /** Number of units. `null` for a price that is billed by usage. */
  readonly quantity: number | null
  /** Range in which the customer may change the quantity. `null` if it is fixed. */
  readonly adjustable: { readonly min: number; readonly max: number } | null
  /** Ids of the provider's tax rates for the line. */
  readonly taxRates?: readonly string[]
} & (
  | { readonly price: string }
  | {
      /** Name shown to the customer. */
      readonly name: string
      /** Price per unit. */
      readonly amount: Money
    }
)

/** Mode of a hosted page: it starts a subscription, takes a payment, or stores a card. */
export type CheckoutMode = 'subscription' | 'payment' | 'setup'

/** The subscription that a hosted page starts. */
export interface CheckoutSubscription {
  /** The application's name for the subscription, such as `main`. */
  readonly name: string
  /**
   * Days of trial, counted from the day the page is completed. `null` for no trial, or one with an
   * end date.
   */
  readonly trialDays: number | null
  /** When the trial ends. `null` for no trial, or one counted in days. */
  readonly trialEndsAt: Date | null
  /** Whether a trial may start without a card. */
  readonly withoutCard: boolean
  /** Start of the first full billing period, for gateways with the part `anchors`. */
  readonly anchorAt?: Date
  /**
   * Whether the time before `anchorAt` is charged.
   * @default true
   */
  readonly prorate?: boolean
}

/** A hosted page to create. */
export interface NewCheckout {
  /** Mode of the page. */
  readonly mode: CheckoutMode
  /** The provider's id of the customer. */
  readonly customerId: string
  /**
   * The owner in our rows. Stored at the provider, because a returning customer is checked against
   * it.
   */
  readonly owner: string
  /** The items. Empty in mode `setup`. */
  readonly lines: readonly CheckoutLine[]
  /** The subscription to start. `null` unless the mode is `subscription`. */
  readonly subscription: CheckoutSubscription | null
  /** The discount, by the provider's id. `null` for none. */
  readonly discount: { readonly coupon: string } | { readonly promotionCode: string } | null
  /** Whether the page has a field for promotion codes. */
  readonly allowsCodes: boolean
  /**
   * Tax added to each price in hundredths of a percent, or `automatic` for the provider's tax by
   * address.
   */
  readonly tax: BasisPoints | 'automatic'
  /** The tax chosen for the subscription, which applies to it from then on. */
  readonly chosenTax?: TaxChoice
  /**
   * Whether a single payment gets an invoice.
   * @default false
   */
  readonly makesInvoice?: boolean
  /** Whether the page collects a tax id. */
  readonly collectsTaxId: boolean
  /** Whether the page collects a billing address. */
  readonly collectsAddress: boolean
  /**
   * URL on our host to which the customer returns. The provider adds the page's id as `session_id`.
   */
  readonly successUrl: string
  /** The application's path for customers who have finished. Stored at the provider. */
  readonly successPath: string
  /** URL for customers who cancel. `null` for none. */
  readonly cancelUrl: string | null
  /** Language of the page. `null` for the browser's. */
  readonly locale: string | null
  /** Metadata passed to the provider unchanged. */
  readonly metadata: Readonly<Record<string, string>>
  /** The id of the operation. A repeat returns the same page. */
  readonly operation: string
}

/** State of the payment on a hosted page: `none` if nothing is due. */
export type CheckoutPaymentStatus = 'none' | 'pending' | 'paid' | 'failed'

/** A hosted page, in the same form for every provider. */
export interface ProviderCheckout {
  /** The provider's id of the page. */
  readonly id: string
  /** URL of the page. `null` once it is no longer open. */
  readonly url: string | null
  /** Mode of the page. */
  readonly mode: CheckoutMode
  /**
   * Status of the page. `open`: it waits for the customer. `complete`: the customer has finished.
   * `expired`: it can no longer be used.
   */
  readonly status: 'open' | 'complete' | 'expired'
  /** Whether the payment has arrived. `false` while a bank debit is pending. */
  readonly isPaid: boolean
  /**
   * State of the payment. `none`: nothing is due. `pending`: it has not arrived yet. If left out,
   * `isPaid` decides, and the payment never fails.
   */
  readonly paymentStatus?: CheckoutPaymentStatus
  /** When the page expires. */
  readonly expiresAt: Date
  /** The provider's id of the customer. `null` if the provider does not say. */
  readonly customerId: string | null
  /** The owner given to `create`. */
  readonly owner: string | null
  /** The path given to `create`. */
  readonly successPath: string | null
  /** The provider's id of the subscription it started. `null` for none yet. */
  readonly subscriptionId: string | null
  /** The id of a single payment, which `refunds.find` accepts. `null` or left out for none yet. */
  readonly paymentId?: string | null
  /** The id of the invoice. `null` or left out for none yet. */
  readonly invoiceId?: string | null
  /** Token of the stored card, for `setCard`. `null` for none. */
  readonly cardToken: string | null
  /** The provider's own object. */
  readonly raw: unknown
}

/** Pages hosted by the provider, on which customers pay. */
export interface CheckoutPages {
  /** Creates a page. A repeat of the operation returns the same page. */
  create(checkout: NewCheckout): Promise<ProviderCheckout>
  /** Finds a page. `null` if there is none. */
  find(id: string): Promise<ProviderCheckout | null>
  /** Finds the page of an operation in any state. `null` if it was never created. */
  findByOperation(operation: string, customerId: string): Promise<ProviderCheckout | null>
  /**
   * Expires a page, so that the customer can no longer pay on it. Does nothing if it is not open.
   */
  expire(id: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Pages hosted by the provider, on which customers pay. */
    readonly checkout: CheckoutPages
  }

  interface ReadingMethods {
    readonly checkout: 'find' | 'findByOperation'
  }
}
