import type { BasisPoints, TaxTerms } from '../../../../values/tax.ts'
import type { WantedItem } from '../../item.ts'
import type { SwapPreview } from '../../swap.ts'

/**
 * All prices that a subscription is to have. Never `one more`: a repeat would add another one. What the main
 * price costs, its tax and the end of the subscription stay as they are.
 */
export interface ItemsChange {
  /** The main price first. What is not among them is removed. */
  readonly wanted: readonly WantedItem[]
  /** Whether what is unused of the old ones counts towards the new ones. */
  readonly prorate: boolean
  /** Bill the difference at once instead of with the next invoice. */
  readonly invoiceNow: boolean
  /** The moment a preview was made for, to get the same cents. */
  readonly prorationDate: Date | null
  /** What is on top of prices that are added, where the provider knows no tax. */
  readonly tax: BasisPoints
  /** Ids of the provider's own rates by price, for what is added, for a gateway with the part `lineRates`. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** The price and tax it has now, where we keep them; null where the provider does. */
  readonly before: TaxTerms | null
}

/** Several prices in one subscription. They are told by `ProviderSubscription.items`. */
export interface SubscriptionItems {
  /** Nothing happens when they are as wanted. */
  change(id: string, change: ItemsChange, now: Date): Promise<void>
  /** What `change` would cost. */
  preview(id: string, change: ItemsChange, now: Date): Promise<SwapPreview>
}
