import type { Money } from '../../core/values/money.ts'

/**
 * Kind of a line in an invoice preview. `item`: a price of the subscription. `usage`: metered
 * usage. `proration`: charge or credit for a part of a billing period. `discount`: a coupon. `tax`:
 * a tax. `balance`: the customer's earlier balance.
 */
export type PreviewLineKind = 'item' | 'usage' | 'proration' | 'discount' | 'tax' | 'balance'

/** One line of an upcoming invoice. */
export interface PreviewLine {
  /** Kind of the line, such as `proration` or `tax`. */
  readonly kind: PreviewLineKind
  /** Text shown to the customer. */
  readonly description: string
  /** Amount of the line. Negative amounts reduce the total. */
  readonly amount: Money
}

/** A preview of an invoice. Its lines add up to its total. */
export interface UpcomingInvoice {
  /** When the invoice or charge is due. */
  readonly date: Date
  /**
   * Amount charged on that date. Never below zero: unused credit is a line of its own, and stays on
   * the balance.
   */
  readonly total: Money
  /** Lines of the invoice. */
  readonly lines: readonly PreviewLine[]
  /**
   * Tax contained in the total, for prices that include tax (Braintree). Taxes that are added to
   * the prices are lines instead.
   */
  readonly includedTax: Money
  /**
   * `true` if the preview lacks the tax because the provider does not know the customer's location.
   * Creating the subscription would then fail.
   */
  readonly taxLocationUnknown?: true
}

/** Previews of the first invoices of a new subscription. */
export interface FirstInvoices {
  /** The invoice charged immediately. Its total is zero during a trial. */
  readonly now: UpcomingInvoice
  /**
   * The invoice after the trial or the first period. `null` if there will be none, or if it cannot
   * be predicted.
   */
  readonly next: UpcomingInvoice | null
}
