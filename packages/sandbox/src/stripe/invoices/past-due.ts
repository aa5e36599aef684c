import type { CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { collectInvoice } from './invoice-payment.ts'

/** A new card was given: what is past due is asked for again. */
export function retryPastDue(work: UnitOfWork, customer: CustomerRow): void {
  for (const subscription of work.findBy('subscription', 'customer', customer.id)) {
    if (subscription.status !== 'past_due') continue
    const invoice = work.find('invoice', subscription.latest_invoice ?? '')
    if (invoice?.status !== 'open' || invoice.auto_advance !== true) continue
    if (invoice.collection_method !== 'charge_automatically') continue
    collectInvoice(work, invoice, { offSession: true })
  }
}
