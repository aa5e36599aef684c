import type { Money } from '../../core/values/money.ts'
import type { BasisPoints } from '../../core/values/tax.ts'
import type { TaxChoice } from '../../providers/subscription.ts'

/**
 * One line of a hosted checkout page: a price defined at the provider, or an amount with a name.
 */
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

/**
 * Purpose of a hosted checkout page: it starts a subscription, takes a single payment, or stores a
 * card (`setup`).
 */
export type CheckoutMode = 'subscription' | 'payment' | 'setup'

/** The subscription that a hosted page starts. */
export interface CheckoutSubscription {
  /** The application's name for the subscription, such as `main`. */
  readonly name: string
  /**
   * Days of trial, counted from the day the page is completed. `null` if there is no trial, or its
   * end is given by `trialEndsAt`.
   */
  readonly trialDays: number | null
  /** When the trial ends. `null` if there is no trial, or its length is given by `trialDays`. */
  readonly trialEndsAt: Date | null
  /** Whether a trial may start without a card. */
  readonly withoutCard: boolean
  /** Start of the first full billing period, for gateways that implement `anchors`. */
  readonly anchorAt?: Date
  /**
   * Whether the time before `anchorAt` is charged proportionally.
   * @default true
   */
  readonly prorate?: boolean
}

/** A hosted checkout page to create. */
export interface NewCheckout {
  /**
   * Purpose of the page: it starts a subscription, takes a single payment, or stores a card
   * (`setup`).
   */
  readonly mode: CheckoutMode
  /** The provider's id of the customer. */
  readonly customerId: string
  /**
   * Key of the owner (the user or team that pays) in our database. It is stored with the page at
   * the provider, so that only this owner can complete the page.
   */
  readonly owner: string
  /** The items. Empty in mode `setup`. */
  readonly lines: readonly CheckoutLine[]
  /** The subscription to start. `null` unless the mode is `subscription`. */
  readonly subscription: CheckoutSubscription | null
  /** The coupon or promotion code to apply, by the provider's id. `null` if there is none. */
  readonly discount: { readonly coupon: string } | { readonly promotionCode: string } | null
  /** Whether the page has a field for promotion codes. */
  readonly allowsCodes: boolean
  /**
   * Tax added to each price in hundredths of a percent, or `automatic` for the provider's tax by
   * address.
   */
  readonly tax: BasisPoints | 'automatic'
  /**
   * Tax chosen for this subscription alone, in place of the application's settings. It also applies
   * to later charges.
   */
  readonly chosenTax?: TaxChoice
  /**
   * Whether a single payment gets an invoice.
   * @default false
   */
  readonly makesInvoice?: boolean
  /** Whether the page asks for the customer's tax id. */
  readonly collectsTaxId: boolean
  /** Whether the page asks for the customer's billing address. */
  readonly collectsAddress: boolean
  /**
   * URL on our host to which customers return after they have finished. The provider adds the
   * page's id as `session_id`.
   */
  readonly successUrl: string
  /**
   * Path of the application to which our host redirects customers who have finished. It is stored
   * with the page at the provider.
   */
  readonly successPath: string
  /** URL to which customers return if they cancel. `null` if the page has no such link. */
  readonly cancelUrl: string | null
  /** Language of the page, such as `de`. `null` for the browser's language. */
  readonly locale: string | null
  /** Metadata passed to the provider unchanged. */
  readonly metadata: Readonly<Record<string, string>>
  /**
   * Id of our stored operation, which serves as idempotency key: a repeated call returns the same
   * page.
   */
  readonly operation: string
}

/**
 * State of the payment on a hosted checkout page. `none`: nothing is due. `pending`: the money has
 * not arrived yet.
 */
export type CheckoutPaymentStatus = 'none' | 'pending' | 'paid' | 'failed'

/** A hosted checkout page, in the same form for every provider. */
export interface ProviderCheckout {
  /** The provider's id of the page. */
  readonly id: string
  /** URL of the page. `null` once it is no longer open. */
  readonly url: string | null
  /**
   * Purpose of the page: it starts a subscription, takes a single payment, or stores a card
   * (`setup`).
   */
  readonly mode: CheckoutMode
  /**
   * Status of the page. `open`: it waits for the customer. `complete`: the customer has finished.
   * `expired`: it can no longer be used.
   */
  readonly status: 'open' | 'complete' | 'expired'
  /** Whether the payment on the page has arrived. `false` while a bank debit is pending. */
  readonly isPaid: boolean
  /**
   * State of the payment on the page. `none`: nothing is due. `pending`: the money has not arrived
   * yet. Left out by gateways without delayed payments, where only `isPaid` counts and no payment
   * fails later.
   */
  readonly paymentStatus?: CheckoutPaymentStatus
  /** When the page expires. */
  readonly expiresAt: Date
  /** The provider's id of the customer. `null` if the provider does not say. */
  readonly customerId: string | null
  /** Key of the owner that was passed to `create()`. `null` if the page was not created by us. */
  readonly owner: string | null
  /**
   * The application's path that was passed to `create()`. `null` if the page was not created by us.
   */
  readonly successPath: string | null
  /**
   * The provider's id of the subscription that the page started. `null` if it has not started one
   * yet.
   */
  readonly subscriptionId: string | null
  /**
   * The provider's id of a single payment made on the page, which `refunds.find()` accepts. `null`
   * or left out if there is none.
   */
  readonly paymentId?: string | null
  /** The provider's id of the invoice for the payment. `null` or left out if there is none. */
  readonly invoiceId?: string | null
  /**
   * Token of the card that the customer entered, for the gateway's `setCard()`. `null` if there is
   * none.
   */
  readonly cardToken: string | null
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}

/** Gateway interface to checkout pages hosted by the provider, on which customers pay. */
export interface CheckoutPages {
  /**
   * Creates a hosted checkout page. A repeated call for the same operation returns the same page.
   */
  create(checkout: NewCheckout): Promise<ProviderCheckout>
  /** Finds a hosted checkout page by its id. `null` if there is none. */
  find(id: string): Promise<ProviderCheckout | null>
  /**
   * Finds the checkout page that an operation created, whether open, complete or expired. `null` if
   * it was never created.
   */
  findByOperation(operation: string, customerId: string): Promise<ProviderCheckout | null>
  /**
   * Expires a checkout page, so that the customer can no longer pay on it. Does nothing if the page
   * is not open.
   */
  expire(id: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to checkout pages hosted by the provider, on which customers pay. */
    readonly checkout: CheckoutPages
  }

  interface ReadOnlyMethods {
    readonly checkout: 'find' | 'findByOperation'
  }
}
