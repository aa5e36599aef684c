import type { BasisPoints, TaxTerms } from '../../core/values/tax.ts'
import type { WantedItem } from '../../providers/item.ts'
import type { SwapPreview } from '../swap/contract.ts'

/**
 * A change of a subscription's prices, given as the complete list, because a repeat of "add one"
 * would add twice. The price and tax of the main item, and the end of the subscription stay.
 */
export interface ItemsChange {
  /** All wanted prices, the main one first. Prices that are not listed are removed. */
  readonly wanted: readonly WantedItem[]
  /** Whether to credit unused time of the old prices. */
  readonly prorate: boolean
  /** Whether to charge the difference immediately instead of with the next invoice. */
  readonly invoiceNow: boolean
  /** The time that a preview used, to charge the same amounts. `null` for now. */
  readonly prorationDate: Date | null
  /** Tax added to the prices of new items, for providers that do not know taxes. */
  readonly tax: BasisPoints
  /**
   * Ids of the provider's tax rates for new items, by price, for gateways with the part
   * `lineRates`.
   */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** The current price and tax from our rows. `null` if the provider keeps them. */
  readonly before: TaxTerms | null
}

/** Several prices in one subscription. `ProviderSubscription.items` lists them. */
export interface SubscriptionItems {
  /** Sets the prices to the wanted list. Does nothing if they match it already. */
  change(id: string, change: ItemsChange, now: Date): Promise<void>
  /** Previews the cost of `change`. */
  preview(id: string, change: ItemsChange, now: Date): Promise<SwapPreview>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Several prices in one subscription. */
    readonly items: SubscriptionItems
  }

  interface ReadingMethods {
    readonly items: 'preview'
  }
}
