import type { TaxLookup } from '../../core/values/tax.ts'
import type { InvoicePaymentMethod } from '../../providers/payment-method.ts'
import type { InvoiceData } from './invoice.ts'

/** The result of voiding an invoice. */
export interface VoidedInvoice {
  /** The invoice after it was voided. */
  readonly invoice: InvoiceData
  /** The provider's id of the subscription that the invoice bills. `null` if there is none. */
  readonly subscription: string | null
}

/** Gateway interface for actions on unpaid invoices. */
export interface InvoiceActions {
  /**
   * Voids an invoice, so that it can no longer be paid. `null` if it belongs to another customer.
   * Voiding a voided invoice changes nothing.
   * @throws InvoicePaid before anything is changed, if the invoice is paid, or is a draft that the
   * customer's credit would pay when it is finalized.
   */
  void(id: string, customerId: string): Promise<VoidedInvoice | null>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for actions on unpaid invoices. */
    readonly invoiceActions: InvoiceActions
  }
}

/** Selects the invoices to list. */
export interface InvoiceFilter {
  /** Whether to include invoices that are unpaid or being settled. */
  readonly pending: boolean
  /** Maximum number of invoices to return, newest first. `null` for all. */
  readonly limit: number | null
  /** Looks up the tax included in a charge, for providers that do not store taxes. */
  readonly taxOf: TaxLookup
}

declare module '../../providers/gateway.ts' {
  interface GatewayReads {
    /** Lists the customer's invoices, newest first. */
    listInvoices(customerId: string, filter: InvoiceFilter): Promise<InvoiceData[]>
    /** Finds an invoice of this customer. `null` if there is none with this id. */
    findInvoice(id: string, customerId: string, taxOf: TaxLookup): Promise<InvoiceData | null>
    /**
     * Returns the payment methods with which an invoice was paid, as they were then. Left out if the
     * provider does not tell.
     */
    findInvoicePaymentMethods?(invoice: InvoiceData): Promise<readonly InvoicePaymentMethod[]>
  }
}
