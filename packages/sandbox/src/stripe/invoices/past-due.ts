import type { CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { collectInvoice } from './invoice-payment.ts'

/**
 * A new card was given: what is past due is asked for again. It is no attempt of the retry schedule,
 * so a failure leaves the next one where it was.
 */
export function retryPastDue(work: UnitOfWork, customer: CustomerRow): void {
  for (const subscription of work.findBy('subscription', 'customer', customer.id)) {
    if (subscription.status !== 'past_due') continue
    const invoice = work.find('invoice', subscription.latest_invoice ?? '')
    if (invoice?.status !== 'open' || invoice.auto_advance !== true) continue
    if (invoice.collection_method !== 'charge_automatically') continue
    const { next_payment_attempt } = invoice
    const { nextAt } = invoice.$
    work.edit('invoice', invoice).attempt_count -= 1
    const outcome = collectInvoice(work, invoice, { offSession: true })
    if (outcome.status === 'succeeded') continue
    invoice.next_payment_attempt = next_payment_attempt
    invoice.$.nextAt = nextAt
  }
}
