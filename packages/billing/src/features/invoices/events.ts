import type { InvoiceEventData, NewBillingEvent } from '../../core/events/billing-event.ts'
import { money } from '../../core/values/money.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { CreditNoteData } from '../credit-notes/credit-note.ts'
import type { Refund } from '../refunds/refund.ts'
import type { InvoiceData } from './invoice.ts'

/** The owner and the provider that a billing event is about. */
export interface EventOrigin {
  readonly owner: Owner
  readonly provider: ProviderName
}

export function toInvoiceEventData(invoice: InvoiceData): InvoiceEventData {
  const { id, number, date, currency, total, amountDue } = invoice
  return {
    id,
    number,
    date: date.toISOString(),
    total: money(total, currency),
    amountDue: money(amountDue, currency),
  }
}

export function buildInvoicePaidEvent(
  { owner, provider }: EventOrigin,
  invoice: InvoiceData,
): NewBillingEvent {
  const data = { invoice: toInvoiceEventData(invoice) }
  return { type: 'invoice.paid', owner, provider, subject: `${provider}:${invoice.id}`, data }
}

export function buildInvoiceVoidedEvent(
  { owner, provider }: EventOrigin,
  invoice: InvoiceData,
): NewBillingEvent {
  const data = { invoice: toInvoiceEventData(invoice) }
  return { type: 'invoice.voided', owner, provider, subject: `${provider}:${invoice.id}`, data }
}

export function buildRefundCreatedEvent(
  { owner, provider }: EventOrigin,
  refund: Refund,
): NewBillingEvent {
  const { id, charge, amount, reason } = refund
  return {
    type: 'refund.created',
    ...{ owner, provider },
    subject: `${provider}:${id}`,
    data: { refund: { id, charge, amount, reason } },
  }
}

export function buildCreditNoteCreatedEvent(
  { owner, provider }: EventOrigin,
  { id, number, invoice, total, currency }: CreditNoteData,
): NewBillingEvent {
  return {
    type: 'credit_note.created',
    ...{ owner, provider },
    subject: `${provider}:${id}`,
    data: { creditNote: { id, number, invoice, total: money(total, currency) } },
  }
}
