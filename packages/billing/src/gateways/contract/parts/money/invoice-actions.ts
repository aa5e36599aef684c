import type { InvoiceData } from '../../../../invoices/invoice.ts'

/** An invoice that nobody can pay any more. */
export interface VoidedInvoice {
  /** The invoice as it is now. */
  readonly invoice: InvoiceData
  /** The subscription it was for, at the provider; null for none. */
  readonly subscription: string | null
}

/** What can be done with an invoice that is not paid. */
export interface InvoiceActions {
  /**
   * Nobody can pay it any more; null when it is not this customer's. A second time changes nothing. Throws InvoicePaid for
   * one that is paid, and for a draft that credit would pay as soon as it is final, before anything is changed.
   */
  void(id: string, customerId: string): Promise<VoidedInvoice | null>
}
