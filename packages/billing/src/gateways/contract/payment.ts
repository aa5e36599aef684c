import type { InvoiceData } from '../../invoices/invoice.ts'
import type { PaymentActionRequired, PaymentFailed } from '../../payment-errors.ts'
import type { BasisPoints } from '../../values/tax.ts'

/** How a single charge is made. */
export interface ChargeOptions {
  /** The same key charges once, however often it is sent, and goes on after a decline. */
  readonly idempotencyKey?: string
  /** Other keys go to the provider as they are. */
  readonly [option: string]: unknown
}

/** How a charge with an invoice is made. */
export interface InvoiceForOptions extends ChargeOptions {
  /** Stripe goes on trying to collect a failed invoice unless this is set. */
  readonly voidOnFailure?: boolean
  /** Whether the provider works out the tax, which comes on top or is within. Default: as the option `tax` says. */
  readonly automaticTax?: boolean
}

/** What came of paying an invoice. */
export interface InvoiceOutcome {
  /** The invoice as it is now. */
  readonly invoice: InvoiceData
  /** The subscription it is for, at the provider. */
  readonly subscription: string | null
  /** Why it is not paid; null when it is. */
  readonly failure: PaymentFailed | PaymentActionRequired | null
}

/** Which invoices are wanted. */
export interface InvoiceFilter {
  /** Also those whose money is still on its way. */
  readonly pending: boolean
  /** The newest so many; null for all. */
  readonly limit: number | null
  /** The tax of a charge, where the provider does not know it. */
  readonly taxOf: TaxOf
}

/** The tax within a subscription's charge of that moment. */
export type TaxOf = (subscriptionId: string, at: Date) => BasisPoints
