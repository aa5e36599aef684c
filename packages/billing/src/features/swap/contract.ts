import type { Money } from '../../core/values/money.ts'
import type { BasisPoints, TaxTerms } from '../../core/values/tax.ts'
import type { WantedItem } from '../../providers/item.ts'
import type { UpcomingInvoice } from '../forecasts/upcoming-invoice.ts'

/** A swap of the main price. */
export interface Swap {
  /** The provider's id of the new main price. */
  readonly plan: string
  /**
   * All prices after the swap, the main price first, for a gateway with the part `items`. Without
   * them, the other prices and the quantity of the main price stay as they are.
   */
  readonly items?: readonly WantedItem[]
  /** Whether a running trial ends with the swap. */
  readonly skipTrial: boolean
  /** Whether the unused part of the old price is credited towards the new one. */
  readonly prorate: boolean
  /**
   * Whether the swap resumes a subscription: price and coupons stay as they are, even if the plan
   * has a new price.
   */
  readonly keepsPrice?: boolean
  /** Whether to bill the difference immediately instead of with the next invoice. */
  readonly invoiceNow: boolean
  /** Tax on top of the new price. */
  readonly tax: BasisPoints
  /**
   * Whether the application says nothing about tax, so that a provider that stores the tax leaves
   * it unchanged. If we store it, `tax` is that of `before`.
   */
  readonly keepsTax?: boolean
  /**
   * Whether the provider calculates the tax from now on, for a gateway with the part
   * `automaticTax`.
   */
  readonly automaticTax?: boolean
  /**
   * Ids of the provider's tax rates for the new main price, for a gateway with the part
   * `lineRates`.
   */
  readonly taxRates?: readonly string[]
  /** Ids of the provider's tax rates for the other prices, by price. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** The present price and tax, if we store them. `null` if the provider does. */
  readonly before: TaxTerms | null
  /** The proration date of a preview, so that the swap costs exactly the same. `null` for now. */
  readonly prorationDate: Date | null
}

/** A new subscription in place of the old one, because the provider cannot change the old one. */
export interface Replacement {
  /** Id of the operation that creates it. */
  readonly operation: string
  /** Our name of the subscription, such as `main`. */
  readonly name: string
  /** The provider's id of the customer who pays. */
  readonly customerId: string
  /** The time of the swap. */
  readonly now: Date
}

/** Preview of the invoice that a change creates. */
export interface SwapPreview extends UpcomingInvoice {
  /** Whether the change charges immediately. Otherwise the next invoice includes it. */
  readonly immediately: boolean
  /** Unused part of the old price, which was paid and is credited towards the new one. */
  readonly credit: Money
  /** Pass it to `swap()` to be charged exactly this amount. */
  readonly prorationDate: Date
}
