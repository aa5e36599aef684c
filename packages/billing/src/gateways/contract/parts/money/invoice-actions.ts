import type { InvoiceData } from '../../../../invoices/invoice.ts'

/** What can be done with an invoice that is not paid. */
export interface InvoiceActions {
  /** Nobody can pay it any more; null when it is not this customer's. A second time changes nothing. */
  void(id: string, customerId: string): Promise<InvoiceData | null>
}
