import type { MeteredPrice } from './metered-price.ts'
import type { BasisPoints } from './tax.ts'

/** A line of a charge for metered usage. Amounts are in the currency's smallest unit. */
export interface UsageLine {
  readonly description: string
  /** Number of units, or of packages, as decimal text. */
  readonly quantity: string
  /** Price of one unit, as decimal text. */
  readonly unitAmount: string
  readonly amount: number
}

/**
 * The part of a usage charge that belongs to one meter, without tax, and the price from which it
 * was computed.
 */
export interface MeterBill {
  readonly meter: string
  readonly price: MeteredPrice
  readonly lines: readonly UsageLine[]
}

/** A charge for the metered usage of a subscription, with its tax rate and its lines by meter. */
export interface UsageBill {
  readonly tax: BasisPoints
  readonly meters: readonly MeterBill[]
}
