import type { CreditNoteData } from '../invoices/credit-note.ts'
import type { InvoiceData } from '../invoices/invoice.ts'
import type { Refund } from '../invoices/refund.ts'
import type { ProviderName } from '../provider-name.ts'
import { money } from '../values/money.ts'
import type { Owner } from '../values/owner.ts'
import type { InvoiceFacts, NewBillingEvent } from './billing-event.ts'

/** Whom an event concerns, and where it happened. */
export interface About {
  readonly owner: Owner
  readonly provider: ProviderName
}

export function factsOfInvoice(invoice: InvoiceData): InvoiceFacts {
  const { id, number, date, currency, total, amountDue } = invoice
  return {
    id,
    number,
    date: date.toISOString(),
    total: money(total, currency),
    amountDue: money(amountDue, currency),
  }
}

export function invoicePaid({ owner, provider }: About, invoice: InvoiceData): NewBillingEvent {
  const data = { invoice: factsOfInvoice(invoice) }
  return { type: 'invoice.paid', owner, provider, subject: `${provider}:${invoice.id}`, data }
}

export function invoiceVoided({ owner, provider }: About, invoice: InvoiceData): NewBillingEvent {
  const data = { invoice: factsOfInvoice(invoice) }
  return { type: 'invoice.voided', owner, provider, subject: `${provider}:${invoice.id}`, data }
}

export function refundCreated({ owner, provider }: About, refund: Refund): NewBillingEvent {
  const { id, charge, amount, reason } = refund
  return {
    type: 'refund.created',
    ...{ owner, provider },
    subject: `${provider}:${id}`,
    data: { refund: { id, charge, amount, reason } },
  }
}

export function creditNoteCreated(
  { owner, provider }: About,
  { id, number, invoice, total, currency }: CreditNoteData,
): NewBillingEvent {
  return {
    type: 'credit_note.created',
    ...{ owner, provider },
    subject: `${provider}:${id}`,
    data: { creditNote: { id, number, invoice, total: money(total, currency) } },
  }
}
