import { calculateProportion } from '../../core/values/money.ts'
import type { BasisPoints } from '../../core/values/tax.ts'

/**
 * Returns the tax included in the total of a Braintree charge, in the currency's smallest unit and
 * rounded. The net amount is total ÷ (1 + tax).
 */
export function computeIncludedTax(total: number, tax: BasisPoints): number {
  return total - calculateProportion(total, 10_000, 10_000 + tax)
}
