import type { BasisPoints, TaxTerms } from '../../core/values/tax.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { SwapPreview } from '../swap/contract.ts'

/**
 * A change of the list of a subscription's prices. It contains the complete new list, so that a
 * repeated request does not add a price twice. The main price, its tax, and the end of the
 * subscription do not change.
 */
export interface ItemsChange {
  /** All wanted prices, the main one first. Prices that are not listed are removed. */
  readonly wanted: readonly RequestedItem[]
  /**
   * Whether to prorate: to credit the unused time of the old prices and charge the new ones for the
   * rest of the period.
   */
  readonly prorate: boolean
  /** Whether to charge the prorated difference immediately instead of with the next invoice. */
  readonly invoiceNow: boolean
  /** The proration date of an earlier preview, to charge the previewed amounts. `null` for now. */
  readonly prorationDate: Date | null
  /** Tax to add to the amounts of new prices, for providers that do not handle taxes. */
  readonly tax: BasisPoints
  /**
   * Ids of the provider's tax rates for newly added prices, by price id, for gateways that
   * implement `lineRates`.
   */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /**
   * The current main price and tax from our database. `null` if the provider itself stores price
   * and tax.
   */
  readonly before: TaxTerms | null
}

/**
 * Gateway interface for subscriptions with several prices, which `ProviderSubscription.items`
 * lists.
 */
export interface SubscriptionItems {
  /**
   * Sets the subscription's prices to the list in `change`. Does nothing if the subscription
   * already has exactly these prices.
   */
  change(id: string, change: ItemsChange, now: Date): Promise<void>
  /** Previews the cost of `change()` without changing anything. */
  preview(id: string, change: ItemsChange, now: Date): Promise<SwapPreview>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for subscriptions with several prices. */
    readonly items: SubscriptionItems
  }

  interface ReadOnlyMethods {
    readonly items: 'preview'
  }
}
