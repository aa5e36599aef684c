import type { Money } from '../../core/values/money.ts'
import type { BasisPoints, TaxTerms } from '../../core/values/tax.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { UpcomingInvoice } from '../forecasts/upcoming-invoice.ts'

/**
 * A swap to request from the gateway: the new prices of a subscription, and how the change is
 * billed.
 */
export interface SwapRequest {
  /** The provider's id of the new main price. */
  readonly price: string
  /**
   * All prices after the swap, the main price first, for gateways that implement `items`. Without
   * them, the other prices and the quantity of the main price stay as they are.
   */
  readonly items?: readonly RequestedItem[]
  /** Whether the swap ends a running trial. */
  readonly skipTrial: boolean
  /** Whether the unused time of the old price is credited towards the new price. */
  readonly prorate: boolean
  /**
   * Whether the price and the coupons stay as they are, even if the plan's price was changed in the
   * meantime. Set when a swap serves to resume a cancelled subscription.
   */
  readonly keepsPrice?: boolean
  /** Whether to bill the prorated difference immediately instead of with the next invoice. */
  readonly invoiceNow: boolean
  /** Tax to add to the new price, in hundredths of a percent. */
  readonly tax: BasisPoints
  /**
   * Whether the present tax stays unchanged, because the application configures no tax. For
   * providers that do not store the tax, `tax` is then equal to the tax in `before`.
   */
  readonly keepsTax?: boolean
  /**
   * Whether the provider calculates the tax after the swap, for gateways that implement
   * `automaticTax`.
   */
  readonly automaticTax?: boolean
  /**
   * Ids of the provider's tax rates for the new main price, for gateways that implement
   * `lineRates`.
   */
  readonly taxRates?: readonly string[]
  /** Ids of the provider's tax rates for the other prices, by price id. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /**
   * The price and tax before the swap, read from our database. `null` for a provider that stores the
   * price and tax itself.
   */
  readonly before: TaxTerms | null
  /**
   * The proration date of an earlier preview, so that the swap costs exactly the previewed amount.
   * `null` for the current time.
   */
  readonly prorationDate: Date | null
}

/**
 * Terms of a new subscription that replaces an old one, because the provider cannot change the old
 * one.
 */
export interface NewReplacement {
  /** Id of our operation that creates the new subscription. It serves as idempotency key. */
  readonly operation: string
  /** The application's name for the subscription, such as `main`. */
  readonly name: string
  /** The provider's id of the customer who pays. */
  readonly customerId: string
  /** The time of the swap. */
  readonly now: Date
}

/** Preview of the cost of a change of plan or prices. */
export interface SwapPreview extends UpcomingInvoice {
  /** Whether the change is charged immediately. If `false`, the next invoice includes it. */
  readonly immediately: boolean
  /** Credit for the paid but unused time of the old price, which reduces the total. */
  readonly credit: Money
  /**
   * The time at which the proration was calculated. Pass it to `swap()` as `prorationDate` to be
   * charged exactly the previewed amount.
   */
  readonly prorationDate: Date
}

declare module '../../providers/gateway.ts' {
  interface GatewayReads {
    /** Previews the cost of `swap`. */
    previewSwap(id: string, swap: SwapRequest, now: Date): Promise<SwapPreview>
  }
  interface GatewayChanges {
    /**
     * Changes the prices in place. If an immediate payment fails, nothing is changed.
     * @throws PaymentFailed if the payment was declined.
     * @throws PaymentActionRequired if the change waits for the customer (`isHeld`), also on a retry.
     */
    swap(id: string, swap: SwapRequest, now: Date): Promise<void>
  }
}
