import type { Money } from '../../core/values/money.ts'
import type { PassThroughOptions } from '../../providers/sdk-types.ts'
import type { InvoiceData } from '../invoices/invoice.ts'
import type { InvoiceOutcome } from '../payments/charge-contract.ts'

/**
 * Options for `sendInvoice()`. Other keys are passed to the provider unchanged, and are typed by
 * its SDK.
 */
export type SendInvoiceOptions = {
  /** Days from today until the invoice is due. @default 30 */
  readonly daysUntilDue?: number
  /** Idempotency key: calls with the same key create one invoice. */
  readonly idempotencyKey?: string
  /**
   * Whether the provider calculates the tax, which is added to the amount or included in it.
   * Default: according to the option `tax` of `createBilling()`.
   */
  readonly automaticTax?: boolean
} & PassThroughOptions<'invoice', 'stripe'>

/** An invoice to be sent. */
export interface NewSentInvoice {
  /** The provider's id of the customer who receives the invoice. */
  readonly customerId: string
  /** The description and amount of the single line. */
  readonly item: { readonly description: string; readonly amount: Money }
  /** Days from today until the invoice is due. */
  readonly daysUntilDue: number
  /**
   * Idempotency key: the caller's key or, if there is none, the id of our stored operation.
   * Requests with the same key create one invoice.
   */
  readonly key: string
  /** Further options of the caller, which are passed to the provider unchanged. */
  readonly more: Omit<SendInvoiceOptions, 'daysUntilDue' | 'idempotencyKey'>
}

/**
 * Gateway interface for invoices with a due date, which the provider sends by e-mail and the
 * customer pays later.
 */
export interface SentInvoices {
  /**
   * Creates an invoice and sends it to the customer. A repeated call with the same key returns the
   * same invoice, which is sent once.
   */
  send(invoice: NewSentInvoice): Promise<InvoiceData>
  /**
   * Records that an open invoice was paid outside of the provider, such as by bank transfer.
   * Returns `null` if the invoice belongs to another customer. Does nothing if it is already paid.
   */
  markPaid(id: string, customerId: string): Promise<InvoiceOutcome | null>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /**
     * Gateway interface for invoices with a due date, which the provider sends by e-mail and the
     * customer pays later.
     */
    readonly sentInvoices: SentInvoices
  }
}
