import type { InvoiceData } from '../../invoices/invoice.ts'
import type { PaymentActionRequired, PaymentFailed } from '../../payment-errors.ts'
import type { BasisPoints } from '../../values/tax.ts'

export interface ChargeOptions {
  /** The same key charges once, however often it is sent, and goes on after a decline. */
  readonly idempotencyKey?: string
  /** Other keys go to the provider as they are. */
  readonly [option: string]: unknown
}

export interface InvoiceForOptions extends ChargeOptions {
  /** Stripe goes on trying to collect a failed invoice unless this is set. */
  readonly voidOnFailure?: boolean
}

/** What came of paying an invoice. */
export interface InvoiceOutcome {
  readonly invoice: InvoiceData
  /** The subscription it is for, at the provider. */
  readonly subscription: string | null
  readonly failure: PaymentFailed | PaymentActionRequired | null
}

export interface InvoiceFilter {
  readonly pending: boolean
  /** The newest so many; null for all. */
  readonly limit: number | null
  readonly taxOf: TaxOf
}

/** The tax within a subscription's charge of that moment. */
export type TaxOf = (subscriptionId: string, at: Date) => BasisPoints
