import type { BasisPoints } from '../../../../values/tax.ts'
import type { WantedItem } from '../../item.ts'

/** A change of prices that comes later. */
export interface PlannedSwap {
  /** All prices from then on, the main one first. */
  readonly items: readonly WantedItem[]
  /** When. */
  readonly at: Date
  /** The operation that planned it; null where somebody else did. */
  readonly operation: string | null
}

/** A change to be planned. */
export interface NewPlannedSwap {
  /** All prices from then on, the main one first. */
  readonly items: readonly WantedItem[]
  /** When. */
  readonly at: 'period_end' | Date
  /** What comes on top of the prices from then on. */
  readonly tax: BasisPoints
  /** Whether nothing is said of tax, so that a provider who keeps it leaves it as it is. */
  readonly keepsTax?: boolean
  /** Whether the provider works out the tax from then on, for a gateway with the part `automaticTax`. */
  readonly automaticTax?: boolean
  /** Ids of the provider's own rates for the main price, for a gateway with the part `lineRates`. */
  readonly taxRates?: readonly string[]
  /** The same by price, for those beside the main one. */
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** The operation it belongs to; null where it goes on belonging to whom it did. */
  readonly operation: string | null
}

/** Changes at a later date. They are told by `ProviderSubscription.planned`. */
export interface Schedules {
  /**
   * Takes the place of what was planned before; a repeat plans the same. Nothing is prorated then. Whatever is not a
   * price stays as it is now, most of all discounts and the end of a trial.
   */
  plan(id: string, swap: NewPlannedSwap): Promise<void>
  /** Forgets what is planned; the subscription goes on as it is. Nothing happens where nothing is. */
  release(id: string): Promise<void>
  /** Whether these prices are billed together: only such can be planned. UnknownPlan where one of them is not there. */
  haveOneRhythm(prices: readonly string[]): Promise<boolean>
  /**
   * Of these prices one that is no longer offered: nothing can be planned with it, and nothing swapped to it. Null for none.
   * For providers who plan nothing with such prices.
   */
  findArchived?(prices: readonly string[]): Promise<string | null>
}
