import type { Money } from '../../values/money.ts'

/**
 * The plan itself, what was used of a price that counts usage, what is used or unused of a period, a coupon, a tax, or a
 * balance from before.
 */
export type PreviewLineKind = 'item' | 'usage' | 'proration' | 'discount' | 'tax' | 'balance'

/** One line of an invoice that will come. */
export interface PreviewLine {
  /** What it stands for. */
  readonly kind: PreviewLineKind
  /** What people read. */
  readonly description: string
  /** Negative is taken off. */
  readonly amount: Money
}

/** An invoice that will come: its lines add up to its total. */
export interface UpcomingInvoice {
  /** When that invoice or charge is due. */
  readonly date: Date
  /** What is charged then. Never below zero: what is left over is a line, and stays as credit. */
  readonly total: Money
  /** What the total is made of. */
  readonly lines: readonly PreviewLine[]
  /** The tax within the total, where prices hold it (Braintree); otherwise taxes are lines. */
  readonly includedTax: Money
  /** There is no tax in it, because the provider does not know where the customer is: it would be refused. */
  readonly taxLocationUnknown?: true
}

/** The bills of a subscription that is not there yet. */
export interface FirstInvoices {
  /** What is charged at once: nothing while a trial runs. */
  readonly now: UpcomingInvoice
  /** What comes after it, when the trial or the first period is over; null where nothing does, or nobody can know. */
  readonly next: UpcomingInvoice | null
}
