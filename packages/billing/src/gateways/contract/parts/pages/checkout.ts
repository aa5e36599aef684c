import type { Money } from '../../../../values/money.ts'
import type { BasisPoints } from '../../../../values/tax.ts'
import type { TaxChoice } from '../../subscription.ts'

/** One line of a hosted page: a price of the provider's, or an amount with a name. */
export type CheckoutLine = {
  /** How many. */
  readonly quantity: number | null
  /** Between which numbers the customer may choose; null for none. */
  readonly adjustable: { readonly min: number; readonly max: number } | null
  /** Ids of the provider's own rates for it. */
  readonly taxRates?: readonly string[]
} & (
  | { readonly price: string }
  | {
      /** What people read. */
      readonly name: string
      /** For each. */
      readonly amount: Money
    }
)

/** What comes of a hosted page: a subscription, a payment, or a card for later. */
export type CheckoutMode = 'subscription' | 'payment' | 'setup'

/** What a subscription that begins on a hosted page is made with. */
export interface CheckoutSubscription {
  /** What the application calls it, such as `main`. */
  readonly name: string
  /** Days of a trial, from the payment on; null for none, or for one with a date. */
  readonly trialDays: number | null
  /** When the trial ends; null for none, or for one that is counted in days. */
  readonly trialEndsAt: Date | null
  /** Whether a trial may begin without a card. */
  readonly withoutCard: boolean
  /** From when on whole periods are billed, for a gateway with the part `anchors`. */
  readonly anchorAt?: Date
  /** Whether the time before is paid for. Default: yes. */
  readonly prorate?: boolean
}

/** A hosted page to be. */
export interface NewCheckout {
  /** What comes of it. */
  readonly mode: CheckoutMode
  /** Who pays. */
  readonly customerId: string
  /** Whose it is, as our rows say: kept at the provider, because a customer who comes back is asked for it. */
  readonly owner: string
  /** What is sold. Empty for `setup`. */
  readonly lines: readonly CheckoutLine[]
  /** Null unless the mode is `subscription`. */
  readonly subscription: CheckoutSubscription | null
  /** What is taken off, by the provider's ids; null for nothing. */
  readonly discount: { readonly coupon: string } | { readonly promotionCode: string } | null
  /** Whether the page has a field for a code. */
  readonly allowsCodes: boolean
  /** On top of each price, or what the provider works out from the address. */
  readonly tax: BasisPoints | 'automatic'
  /** What was chosen for its subscription, for as long as that runs. */
  readonly chosenTax?: TaxChoice
  /** Whether what is paid once gets an invoice. Default: no. */
  readonly makesInvoice?: boolean
  /** Whether the page asks for a tax id. */
  readonly collectsTaxId: boolean
  /** Whether the page asks for an address. */
  readonly collectsAddress: boolean
  /** Where the customer comes back to, on our host. The provider adds the page's id as `session_id`. */
  readonly successUrl: string
  /** Where the application wants the customer then; a path. Kept at the provider. */
  readonly successPath: string
  /** Where the customer goes who changes their mind; null for nowhere. */
  readonly cancelUrl: string | null
  /** The language of the page; null leaves it to the browser. */
  readonly locale: string | null
  /** Goes to the provider as it is. */
  readonly metadata: Readonly<Record<string, string>>
  /** The operation it belongs to: a repeat gives the same page. */
  readonly operation: string
}

/** What became of the money that a hosted page asks for. */
export type CheckoutPaymentStatus = 'none' | 'pending' | 'paid' | 'failed'

/** A provider's hosted page in our words. */
export interface ProviderCheckout {
  /** The provider's id. */
  readonly id: string
  /** Where it is; null when it is no longer open. */
  readonly url: string | null
  /** What comes of it. */
  readonly mode: CheckoutMode
  /** Whether it waits for the customer, was done, or can no longer be used. */
  readonly status: 'open' | 'complete' | 'expired'
  /** Whether the money is there; false while it is on its way. */
  readonly isPaid: boolean
  /**
   * What became of the money. `none`: there is nothing to pay. `pending`: it is not there yet. Left out: as `isPaid`
   * says, and it never fails.
   */
  readonly paymentStatus?: CheckoutPaymentStatus
  /** When it closes by itself. */
  readonly expiresAt: Date
  /** Who pays; null where the provider does not say. */
  readonly customerId: string | null
  /** As it was given to `create`. */
  readonly owner: string | null
  /** As it was given to `create`. */
  readonly successPath: string | null
  /** The subscription that it made; null for none yet. */
  readonly subscriptionId: string | null
  /** What was paid once, by an id that `refunds.find` knows; left out or null for nothing yet. */
  readonly paymentId?: string | null
  /** The invoice that it made; left out or null for none yet. */
  readonly invoiceId?: string | null
  /** What was kept to be billed later, by a token for `setCard`; null for nothing. */
  readonly cardToken: string | null
  /** The provider's own object. */
  readonly raw: unknown
}

/** Pages of the provider's on which customers pay. */
export interface CheckoutPages {
  /** A repeat of the operation gives the same page. */
  create(checkout: NewCheckout): Promise<ProviderCheckout>
  /** Null when there is none. */
  find(id: string): Promise<ProviderCheckout | null>
  /** The page that an operation made, whatever became of it; null when it never came that far. */
  findByOperation(operation: string, customerId: string): Promise<ProviderCheckout | null>
  /** Nobody can pay on it any more. Nothing happens when it is no longer open. */
  expire(id: string): Promise<void>
}
