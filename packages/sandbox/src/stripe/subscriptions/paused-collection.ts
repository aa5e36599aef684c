import { finalizeInvoice, markUncollectible, voidInvoice } from '../invoices/invoice-payment.ts'
import type { InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'

/**
 * Announces an invoice of a subscription whose collection is paused, and settles at once what becomes of it. False where
 * it is not paused. What gives money back is finalized as ever: there is nothing to collect.
 */
export function announcePaused(
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
  // A void invoice does not touch the customer's credit.
  finalizeInvoice(work, invoice, { leavesBalance: isVoid, withoutLocation: 'disabled' })
  if (invoice.status !== 'open') return true
  if (isVoid) voidInvoice(work, invoice)
  else markUncollectible(work, invoice)
  return true
}
