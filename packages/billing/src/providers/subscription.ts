import type { Money } from '../core/values/money.ts'
import type { BasisPoints } from '../core/values/tax.ts'
import type { ProviderItem, RequestedItem } from './item.ts'
import type { ProviderPaymentMethod } from './payment-method.ts'

/** A provider's subscription in a common format. */
export interface ProviderSubscription {
  /** The subscription's id at the provider. */
  readonly id: string
  /**
   * The customer's id. `null` if the provider's object does not contain it; then use
   * `findCustomerId()`.
   */
  readonly customerId: string | null
  /** The provider's id of the main price. */
  readonly price: string
  /** The provider's own status. */
  readonly status: string
  /**
   * Whether the provider will not change or charge the subscription any more. Access may continue
   * until `endsAt`.
   */
  readonly isOver: boolean
  /** Number of units of the main price. */
  readonly quantity: number
  /** When the trial ends, or ended. `null` if there was none. */
  readonly trialEndsAt: Date | null
  /** When access ends, or ended. `null` while the subscription renews. */
  readonly endsAt: Date | null
  /** When the current billing period started. Missing if the provider does not say. */
  readonly periodStartsAt?: Date | null
  /** When the current billing period or trial ends, and the next invoice is due. */
  readonly periodEndsAt: Date | null
  /**
   * When `cancelAtPeriodEnd` would end the subscription, that is, the end of the time paid for,
   * including credit. `null` if it would end immediately.
   */
  readonly paidUntil: Date | null
  /** When the subscription was created. */
  readonly createdAt: Date
  /** The application's name for the subscription. `null` if the provider does not store it. */
  readonly name: string | null
  /**
   * Digest of the application's name for the subscription, if the provider has no room for the name
   * itself. `null` otherwise.
   */
  readonly nameDigest: string | null
  /** Id of the operation that created the subscription. */
  readonly operation: string | null
  /**
   * The price including tax, for a provider that does not handle taxes itself. `null` for other
   * providers.
   */
  readonly taxedPrice: number | null
  /** Time of the newest charge. `null` if the provider does not say. */
  readonly lastChargeAt: Date | null
  /**
   * Why the subscription ended. `null` while the subscription runs, and if the provider does not
   * give a reason.
   */
  readonly endReason: EndReason | null
  /** All items. Requires the capability `items`. */
  readonly items?: readonly ProviderItem[]
  /** The current pause. `null` if it is not paused. Requires the capability `pauses`. */
  readonly pause?: CollectionPause | null
  /** The planned swap. `null` if none is planned. Requires the capability `schedules`. */
  readonly planned?: PlannedSwap | null
  /**
   * Whether a schedule controls the subscription, even if the planned change was carried out.
   * `release` detaches the schedule.
   */
  readonly isScheduled?: boolean
  /**
   * Whether a change of the subscription waits for its payment. Until then, the subscription is as
   * it was before.
   */
  readonly isHeld?: boolean
  /**
   * Whether a change that waited for its payment was never paid, and some of its effects remain.
   * `PaymentConfirmations.undoLapsedChange` reverts them.
   */
  readonly hasLapsed?: boolean
  /** The provider's own object. */
  readonly raw: unknown
}

/** A discount that is currently applied to a subscription's invoices. */
export interface ActiveDiscount {
  /** Id of the coupon at Stripe, or of the discount at Braintree. */
  readonly coupon: string
  /** The provider's name of the discount. */
  readonly name: string
  /** Percentage taken off each invoice. `null` for an amount. */
  readonly percentOff: number | null
  /** Amount taken off each invoice. `null` for a percentage. */
  readonly amountOff: Money | null
  /**
   * When the discount expires. `null` if the discount does not expire, or expires after a number of
   * invoices.
   */
  readonly endsAt: Date | null
  /**
   * Number of remaining invoices; 1 for a one-time discount. `null` if the discount does not
   * expire, or expires at a date.
   */
  readonly billsLeft: number | null
}

/** Why a subscription ended. `cancelled` was requested, the others are decided by the provider. */
export type EndReason = 'cancelled' | 'payment_failed' | 'payment_disputed'

/** How a subscription starts, if not with a whole billing period from now on. */
export interface StartTerms {
  /** When whole billing periods start. Requires the capability `anchors`. */
  readonly anchorAt?: Date
  /**
   * Start date of the subscription, if it lies in the past. Requires the capability `backdating`.
   */
  readonly backdateTo?: Date
  /** Whether the time before the first whole period is charged. @default true */
  readonly prorate?: boolean
}

/** A subscription to create at a provider. */
export interface NewSubscription extends StartTerms {
  /** Id of the customer that pays. */
  readonly customerId: string
  /** The provider's id of the main price. */
  readonly price: string
  /** Number of units of the main price. */
  readonly quantity: number
  /** Whether the plan is metered, and so has no quantity. Requires the capability `usage`. */
  readonly isMetered?: boolean
  /** The provider's id of the coupon. `null` if there is no coupon. */
  readonly coupon: string | null
  /** Additional prices. Requires the capability `items`. */
  readonly items?: readonly RequestedItem[]
  /** The application's name for the subscription, such as `main`. */
  readonly name: string
  /** Length of the trial in days. `null` uses the plan's own trial. */
  readonly trialDays: number | null
  /** Tax rate on top of the price. */
  readonly tax: BasisPoints
  /** Id of the operation. A retry with the same id finds the same subscription. */
  readonly operation: string
  /** End of the trial, as an alternative to `trialDays`. Requires the capability `trials`. */
  readonly trialEndsAt?: Date
  /**
   * Whether the subscription may start without a payment method. Throws NoPaymentMethod if a
   * payment is due immediately; a trial that ends without a payment method ends the subscription.
   * Requires the capability `freeStarts`.
   */
  readonly withoutCard?: boolean
  /**
   * Id of a promotion code, as an alternative to `coupon`. Requires the capability
   * `promotionCodes`.
   */
  readonly promotionCode?: string
  /** Whether the provider calculates the tax. Requires the capability `automaticTax`. */
  readonly automaticTax?: boolean
  /** Ids of the provider's tax rates for the plan. Requires the capability `lineRates`. */
  readonly taxRates?: readonly string[]
  /**
   * Ids of the provider's tax rates for each additional price. Requires the capability `lineRates`.
   */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /**
   * The kind of tax chosen for this subscription, regardless of later options. Requires the
   * capability `automaticTax`.
   */
  readonly chosenTax?: TaxChoice
  /** The application's own metadata. Requires the capability `metadata`. */
  readonly metadata?: MetadataValues
}

/**
 * How one subscription is taxed, regardless of the options of billing: by percentage,
 * automatically, not at all, or by the tax rates with these ids.
 */
export type TaxChoice = 'percentage' | 'automatic' | 'none' | readonly string[]

/**
 * The terms under which a subscription runs, with which the terms of a second `create()` under the
 * same name are compared.
 */
export interface AgreedTerms extends StartTerms {
  /**
   * Id of the coupon or promotion code that the subscription started with. `null` if there was
   * none, or if the discount was changed since.
   */
  readonly coupon: string | null
  /** Ids of the coupons and promotion codes that reduce the subscription's invoices now. */
  readonly discounts: readonly string[]
  /** Length of the subscription's trial in days. `null` if it has no trial. */
  readonly trialDays: number | null
  /** Ids of prices that the plan itself includes, in addition to the requested ones. */
  readonly included: readonly string[]
  /**
   * Tax that was chosen for this subscription only. Missing if the subscription is taxed according
   * to the options of billing.
   */
  readonly chosenTax?: TaxChoice
  /** The payment method that is charged. `null` if there is none. */
  readonly method: ProviderPaymentMethod | null
}

/** A planned swap: a change of a subscription's prices at a future date. */
export interface PlannedSwap {
  /** All prices of the subscription after the planned swap, the main price first. */
  readonly items: readonly RequestedItem[]
  /** When the prices change. */
  readonly at: Date
  /** Id of our operation that planned the swap. `null` if it was planned outside of Tollgate. */
  readonly operation: string | null
}

/**
 * Treatment of the invoices created while a subscription is paused. `void`: they are never paid.
 * `keep_as_draft`: they can be sent later. `mark_uncollectible`: they are written off.
 */
export type PausedBills = 'void' | 'keep_as_draft' | 'mark_uncollectible'

/** A pause of a subscription: invoices are still created, but no payment is collected. */
export interface CollectionPause {
  /** When the pause ends automatically. `null` if it lasts until `unpause()` is called. */
  readonly until: Date | null
  /** Treatment of the invoices created during the pause. */
  readonly bills: PausedBills
}

/** The application's own key-value pairs, stored with an object at the provider. */
export type MetadataValues = Readonly<Record<string, string>>
