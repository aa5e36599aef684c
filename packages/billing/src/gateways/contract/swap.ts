import type { Money } from '../../values/money.ts'
import type { BasisPoints, TaxTerms } from '../../values/tax.ts'
import type { WantedItem } from './item.ts'
import type { UpcomingInvoice } from './upcoming-invoice.ts'

/** A change of plan. */
export interface Swap {
  /** The provider's id of the new plan. */
  readonly plan: string
  /**
   * All prices from then on, the plan first, for a gateway with the part `items`. Without them the others, and how
   * many there are of the plan, stay as they are.
   */
  readonly items?: readonly WantedItem[]
  /** Whether a trial that is under way ends with it. */
  readonly skipTrial: boolean
  /** Whether what is unused of the old plan counts towards the new one. */
  readonly prorate: boolean
  /** Takes a cancellation back: price and coupons stay as they are, whatever the plan costs by now. */
  readonly keepsPrice?: boolean
  /** Bill the difference at once instead of with the next invoice. */
  readonly invoiceNow: boolean
  /** What comes on top of the new price. */
  readonly tax: BasisPoints
  /** Whether nothing is said of tax, so that a provider who keeps it leaves it as it is. Where we keep it, `tax` is that of `before`. */
  readonly keepsTax?: boolean
  /** Whether the provider works out the tax from now on, for a gateway with the part `automaticTax`. */
  readonly automaticTax?: boolean
  /** Ids of the provider's own rates for the new plan, for a gateway with the part `lineRates`. */
  readonly taxRates?: readonly string[]
  /** The same by price, for those beside the new plan. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** The price and tax it has now, where we keep them; null where the provider does. */
  readonly before: TaxTerms | null
  /** The moment a preview was made for, to get the same cents. */
  readonly prorationDate: Date | null
}

/** Another subscription in place of the old one, because the provider cannot change it. */
export interface Replacement {
  /** The operation it belongs to. */
  readonly operation: string
  /** What the application calls the subscription. */
  readonly name: string
  /** Who pays. */
  readonly customerId: string
  /** The moment it happens. */
  readonly now: Date
}

/** The invoice that a change brings about. */
export interface SwapPreview extends UpcomingInvoice {
  /** Whether the swap charges at once; otherwise the next invoice carries it. */
  readonly immediately: boolean
  /** Value of the old plan that is paid and not used up, and counts towards the new one. */
  readonly credit: Money
  /** Give it to `swap()` to get the same cents. */
  readonly prorationDate: Date
}
