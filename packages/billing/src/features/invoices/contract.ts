import type { InvoiceData } from './invoice.ts'

/** A voided invoice. */
export interface VoidedInvoice {
  /** The invoice in its current state. */
  readonly invoice: InvoiceData
  /** The provider's id of the invoice's subscription. `null` for none. */
  readonly subscription: string | null
}

/** Actions on unpaid invoices. */
export interface InvoiceActions {
  /**
   * Voids an invoice, so that it can no longer be paid. `null` if it belongs to another customer.
   * Voiding it twice changes nothing.
   * @throws InvoicePaid before anything is changed, if it is paid, or a draft that credit would pay
   * on finalization.
   */
  void(id: string, customerId: string): Promise<VoidedInvoice | null>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Actions on unpaid invoices. */
    readonly invoiceActions: InvoiceActions
  }
}
