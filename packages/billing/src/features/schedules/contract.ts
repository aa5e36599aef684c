import type { BasisPoints } from '../../core/values/tax.ts'
import type { RequestedItem } from '../../providers/item.ts'

/** A planned swap to create: a change of a subscription's prices at a future date. */
export interface NewPlannedSwap {
  /** All prices of the subscription after the planned swap, the main price first. */
  readonly items: readonly RequestedItem[]
  /** When the prices change. */
  readonly at: 'period_end' | Date
  /** Tax to add to the new prices, in hundredths of a percent. */
  readonly tax: BasisPoints
  /**
   * Whether the present tax stays unchanged at a provider that stores taxes, because the
   * application does not configure any tax.
   */
  readonly keepsTax?: boolean
  /**
   * Whether the provider calculates the tax of the new prices, for gateways that implement
   * `automaticTax`.
   */
  readonly automaticTax?: boolean
  /**
   * Ids of the provider's tax rates for the main price, for gateways that implement `lineRates`.
   */
  readonly taxRates?: readonly string[]
  /** Ids of the provider's tax rates for the other prices, by price id. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /**
   * Id of our operation that plans the swap, stored in the plan. `null` keeps the id that the
   * existing plan has.
   */
  readonly operation: string | null
}

/**
 * Gateway interface for planned swaps. `ProviderSubscription.planned` returns the planned swap of a
 * subscription.
 */
export interface SubscriptionSchedules {
  /**
   * Plans a swap, and replaces an earlier plan. Repeated calls have no further effect. Nothing is
   * prorated when the prices change. The rest of the subscription stays as it is, including
   * discounts and the end of a trial.
   */
  plan(id: string, swap: NewPlannedSwap): Promise<void>
  /**
   * Cancels the planned swap, so that the subscription continues unchanged. Does nothing if none is
   * planned.
   */
  release(id: string): Promise<void>
  /**
   * Whether these prices have the same billing interval. Prices with different intervals cannot be
   * planned together.
   * @throws {UnknownPrice} if one of them does not exist.
   */
  haveSameInterval(prices: readonly string[]): Promise<boolean>
  /**
   * Returns one of these prices that is archived, `null` if none is. Implemented for providers that
   * can neither plan nor swap to an archived price.
   */
  findArchived?(prices: readonly string[]): Promise<string | null>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for planned swaps. */
    readonly schedules: SubscriptionSchedules
  }
}
