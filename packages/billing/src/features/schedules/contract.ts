import type { BasisPoints } from '../../core/values/tax.ts'
import type { WantedItem } from '../../providers/item.ts'

/** A planned change of prices. */
export interface PlannedSwap {
  /** All prices from that date on, the main price first. */
  readonly items: readonly WantedItem[]
  /** When the prices change. */
  readonly at: Date
  /** Id of the operation that planned it. `null` if it was planned outside of Tollgate. */
  readonly operation: string | null
}

/** A change of prices to be planned. */
export interface NewPlannedSwap {
  /** All prices from that date on, the main price first. */
  readonly items: readonly WantedItem[]
  /** When the prices change. */
  readonly at: 'period_end' | Date
  /** Tax on top of the new prices. */
  readonly tax: BasisPoints
  /**
   * Whether a provider that stores the tax leaves it unchanged, because the application says
   * nothing about tax.
   */
  readonly keepsTax?: boolean
  /**
   * Whether the provider calculates the tax of the new prices, for a gateway with the part
   * `automaticTax`.
   */
  readonly automaticTax?: boolean
  /**
   * Ids of the provider's tax rates for the main price, for a gateway with the part `lineRates`.
   */
  readonly taxRates?: readonly string[]
  /** Ids of the provider's tax rates for the other prices, by price. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** Id of the operation that plans it. `null` keeps the operation of the existing plan. */
  readonly operation: string | null
}

/** Planned changes of prices. They are reported in `ProviderSubscription.planned`. */
export interface Schedules {
  /**
   * Plans a change of prices, and replaces an earlier plan. Idempotent. Nothing is prorated when
   * the prices change. Everything else about the subscription stays as it is now, above all
   * discounts and the end of a trial.
   */
  plan(id: string, swap: NewPlannedSwap): Promise<void>
  /**
   * Cancels the planned change; the subscription continues unchanged. Does nothing if none is
   * planned.
   */
  release(id: string): Promise<void>
  /**
   * Whether these prices have the same billing interval, without which they cannot be planned
   * together.
   * @throws {UnknownPrice} if one of them does not exist.
   */
  haveSameInterval(prices: readonly string[]): Promise<boolean>
  /**
   * Finds one of these prices that is archived. `null` if there is none. For providers that can
   * neither plan nor swap to an archived price.
   */
  findArchived?(prices: readonly string[]): Promise<string | null>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Planned changes of prices. */
    readonly schedules: Schedules
  }
}
