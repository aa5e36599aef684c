import { proportion } from '../../../values/money.ts'
import type { BasisPoints } from '../../../values/tax.ts'

/** The tax is inside what Braintree charges: net is total ÷ (1 + tax), to the cent. */
export function includedTax(total: number, tax: BasisPoints): number {
  return total - proportion(total, 10_000, 10_000 + tax)
}
