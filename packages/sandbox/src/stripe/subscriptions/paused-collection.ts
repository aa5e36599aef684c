import {
  finalizeInvoice,
  markInvoiceUncollectible,
  voidInvoice,
} from '../invoices/invoice-payment.ts'
import type { InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'

/**
 * Handles a new invoice of a subscription whose collection is paused: emits its event, and then
 * voids it, marks it uncollectible or keeps it as a draft. An invoice with a credit is finalized as
 * usual, since there is nothing to collect. Returns `false` if collection is not paused.
 */
export function applyPausedCollection(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  invoice: InvoiceRow,
): boolean {
  const behavior = subscription.pause_collection?.behavior
  if (behavior === undefined) return false
  work.edit('invoice', invoice)
  invoice.auto_advance = false
  work.emit('invoice.created', 'invoice', invoice)
  if (behavior === 'keep_as_draft') return true
  const isVoid = behavior === 'void' && invoice.total > 0
  // A void invoice must not change the customer's balance.
  finalizeInvoice(work, invoice, { ignoresBalance: isVoid, missingLocation: 'disabled' })
  if (invoice.status !== 'open') return true
  if (isVoid) voidInvoice(work, invoice)
  else markInvoiceUncollectible(work, invoice)
  return true
}
