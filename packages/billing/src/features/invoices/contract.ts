import type { InvoiceData } from './invoice.ts'

/** The result of voiding an invoice. */
export interface VoidedInvoice {
  /** The invoice after it was voided. */
  readonly invoice: InvoiceData
  /** The provider's id of the subscription that the invoice bills. `null` for none. */
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
