import type { Money } from '../../values/money.ts'
import type { BasisPoints } from '../../values/tax.ts'
import type { ProviderItem, WantedItem } from './item.ts'
import type { ProviderMethod } from './parts/pages/payment-methods.ts'
import type { Pause } from './parts/subscriptions/pauses.ts'
import type { PlannedSwap } from './parts/subscriptions/schedules.ts'

/** A provider's subscription in our words; both gateways give the same. */
export interface ProviderSubscription {
  /** The provider's id. */
  readonly id: string
  /** Null where the provider's object does not say; then ask `findOwner`. */
  readonly customerId: string | null
  /** The provider's id of the plan. */
  readonly plan: string
  /** In the provider's words. */
  readonly status: string
  /** The provider will do nothing more with it, though access may go on until `endsAt`. */
  readonly isOver: boolean
  /** How many of the plan. */
  readonly quantity: number
  /** When the trial ends or ended; null where there was none. */
  readonly trialEndsAt: Date | null
  /** When access ends or ended; null while it goes on. */
  readonly endsAt: Date | null
  /** When the running period began, where the provider says so. */
  readonly periodStartsAt?: Date | null
  /** When the running period or trial is over, and the next bill is due. */
  readonly periodEndsAt: Date | null
  /** When `cancelAtPeriodEnd` would end it: what is paid for, with credit; null for at once. */
  readonly paidUntil: Date | null
  /** When it was made. */
  readonly createdAt: Date
  /** The name it was created under, where the provider keeps it. */
  readonly name: string | null
  /** Of a name that it has no room for. */
  readonly nameDigest: string | null
  /** The operation that made it. */
  readonly operation: string | null
  /** The price with the tax inside, where the provider knows no tax; null where it does. */
  readonly taxedPrice: number | null
  /** When it was last charged for; null where the provider does not say. */
  readonly lastChargeAt: Date | null
  /** Why it is over; null while it goes on, and where the provider does not say. */
  readonly endReason: EndReason | null
  /** All its prices, from a gateway with the part `items`. */
  readonly items?: readonly ProviderItem[]
  /** That it is paused, from a gateway with the part `pauses`; null while it is not. */
  readonly pause?: Pause | null
  /** What is to change later, from a gateway with the part `schedules`; null for nothing. */
  readonly planned?: PlannedSwap | null
  /** Whether a plan holds it, also one that was carried out: `release` lets go of it. */
  readonly isScheduled?: boolean
  /** Whether a change of it waits for its payment: until that has come, all is as before it. */
  readonly isHeld?: boolean
  /** Whether such a change was not paid and has left something behind: `Confirmations.putBack` clears that away. */
  readonly hasLapsed?: boolean
  /** The provider's own object. */
  readonly raw: unknown
}

/** What is taken off the bills of a subscription now. */
export interface ActiveDiscount {
  /** The coupon's id at Stripe, the discount's at Braintree. */
  readonly coupon: string
  /** What the provider calls it. */
  readonly name: string
  /** Either a percentage or an amount; the other one is null. */
  readonly percentOff: number | null
  /** What is taken off each bill; null for a percentage. */
  readonly amountOff: Money | null
  /** After this moment it counts no more. Null: without an end, or counted in bills. */
  readonly endsAt: Date | null
  /** How many more bills it counts for; 1 of what counts once. Null: without an end, or until a moment. */
  readonly billsLeft: number | null
}

/** Why a subscription is over. `cancelled` is by whoever asked for it, the others are the provider's. */
export type EndReason = 'cancelled' | 'payment_failed' | 'payment_disputed'

/** How a subscription begins, where that is not with a whole period from now on. */
export interface StartTerms {
  /** From when on whole periods are billed, for a gateway with the part `anchors`. */
  readonly anchorAt?: Date
  /** When it began, for a gateway with the part `backdating`. */
  readonly backdateTo?: Date
  /** Whether the time before the first whole period is paid for. Default: yes. */
  readonly prorate?: boolean
}

/** What a subscription is made of at a provider. */
export interface NewSubscription extends StartTerms {
  /** Who pays for it. */
  readonly customerId: string
  /** The provider's id of the plan. */
  readonly plan: string
  /** How many of it. */
  readonly quantity: number
  /** Whether usage of the plan is counted, which then has no quantity, for a gateway with the part `usage`. */
  readonly isMetered?: boolean
  /** The provider's id of the coupon; null for none. */
  readonly coupon: string | null
  /** Further prices, for a gateway with the part `items`. */
  readonly items?: readonly WantedItem[]
  /** What the application calls it, such as `main`. */
  readonly name: string
  /** Days before the first bill; null leaves it to the plan. */
  readonly trialDays: number | null
  /** What comes on top of the price. */
  readonly tax: BasisPoints
  /** The operation it belongs to: a repeat finds the same subscription by it. */
  readonly operation: string
  /** When the trial ends, in place of `trialDays`, for a gateway with the part `trials`. */
  readonly trialEndsAt?: Date
  /**
   * Whether it may begin without a card, for a gateway with the part `freeStarts`. Where something is due at once, that is
   * NoPaymentMethod. A trial that ends without a card ends it.
   */
  readonly withoutCard?: boolean
  /** The id of a code, in place of a coupon, for a gateway with the part `promotionCodes`. */
  readonly promotionCode?: string
  /** Whether the provider works out the tax, for a gateway with the part `automaticTax`. */
  readonly automaticTax?: boolean
  /** Ids of the provider's own rates for the plan, for a gateway with the part `lineRates`. */
  readonly taxRates?: readonly string[]
  /** Ids of the provider's own rates by price, for those beside the plan, for a gateway with the part `lineRates`. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** What was chosen for this one, for as long as it runs, for a gateway with the part `automaticTax`. */
  readonly chosenTax?: TaxChoice
}

/** How one subscription is taxed, whatever is said of all: by percentage, by the provider, not at all, or by rates of its own. */
export type TaxChoice = 'percentage' | 'automatic' | 'none' | readonly string[]

/** The terms under which a subscription runs, to be compared with those of another `create()` under its name. */
export interface AgreedTerms extends StartTerms {
  /** Id of the coupon or promotion code that it began with. `null` for none, and once that was changed. */
  readonly coupon: string | null
  /** Ids of the coupons and promotion codes that reduce its bills now. */
  readonly discounts: readonly string[]
  /** Length of its trial in days. `null` without one. */
  readonly trialDays: number | null
  /** Prices that the plan brings along, beside those that were asked for. */
  readonly included: readonly string[]
  /** Tax that was chosen for this subscription alone. Missing where it follows the options. */
  readonly chosenTax?: TaxChoice
  /** Payment method that is charged. `null` for none. */
  readonly method: ProviderMethod | null
}
