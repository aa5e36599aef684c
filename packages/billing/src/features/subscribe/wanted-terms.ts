import type { ProviderName } from '../../core/values/provider-name.ts'
import type { TaxSource } from '../../options.ts'
import type { CustomerDetails } from '../../providers/customer.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { MetadataValues, StartTerms } from '../../providers/subscription.ts'

export interface RequestedSubscription extends StartTerms {
  readonly provider: ProviderName
  readonly name: string
  readonly price: string
  readonly quantity: number
  /** The provider's id of a coupon or of a promotion code. `null` for no discount. */
  readonly coupon: string | null
  /**
   * Promotion code as the customer typed it. `coupon` then contains the id of the promotion code
   * instead of a coupon's id.
   */
  readonly code?: string
  readonly trialDays: number | null
  /** Alternative to `trialDays`: the exact end of the trial. */
  readonly trialEndsAt?: Date
  /** Additional prices of the subscription, besides the main price. */
  readonly items?: readonly RequestedItem[]
  /** Whether the subscription may start without a card. */
  readonly withoutCard?: boolean
  /** Whether the main price is billed by usage. */
  readonly isMetered?: boolean
  /**
   * The application's own key-value pairs, stored with the subscription. They are ignored when a
   * repeated call is compared with the existing subscription.
   */
  readonly metadata?: MetadataValues
}

/**
 * Tax that was chosen for one subscription with `withTax()`. `null` if the option `tax` applies.
 */
export type ChosenTax = TaxSource | null

export interface SubscriptionPayer {
  readonly token: string | null
  readonly details: CustomerDetails
}
