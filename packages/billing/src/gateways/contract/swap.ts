import type { Money } from '../../values/money.ts'
import type { BasisPoints, TaxTerms } from '../../values/tax.ts'

export interface Swap {
  readonly plan: string
  readonly skipTrial: boolean
  readonly prorate: boolean
  /** Takes a cancellation back: price and coupons stay as they are, whatever the plan costs by now. */
  readonly keepsPrice?: boolean
  /** Bill the difference at once instead of with the next invoice. */
  readonly invoiceNow: boolean
  readonly tax: BasisPoints
  /** The price and tax it has now, where we keep them; null where the provider does. */
  readonly before: TaxTerms | null
  /** The moment a preview was made for, to get the same cents. */
  readonly prorationDate: Date | null
}

export interface Replacement {
  readonly operation: string
  readonly name: string
  readonly customerId: string
  readonly now: Date
}

export type PreviewLineKind = 'item' | 'proration' | 'discount' | 'tax' | 'balance'

export interface PreviewLine {
  readonly kind: PreviewLineKind
  readonly description: string
  /** Negative is taken off. */
  readonly amount: Money
}

/** The invoice that will come: its lines add up to its total. */
export interface SwapPreview {
  /** Whether the swap charges at once; otherwise the next invoice carries it. */
  readonly immediately: boolean
  /** When that invoice or charge is due: now, at the next bill, or at the end of the trial. */
  readonly date: Date
  /** What is charged then. Never below zero: what is left over is a line, and stays as credit. */
  readonly total: Money
  /** Value of the old plan that is not used up, and counts towards the new one. */
  readonly credit: Money
  readonly lines: readonly PreviewLine[]
  /** The tax within the total, where prices hold it (Braintree); otherwise taxes are lines. */
  readonly includedTax: Money
  /** Give it to `swap()` to get the same cents. */
  readonly prorationDate: Date
}
