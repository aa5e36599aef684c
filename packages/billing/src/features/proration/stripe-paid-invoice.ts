import type Stripe from 'stripe'
import { idOf, type StripeContext } from '../../providers/stripe/client.ts'
import { pendingLinesOf } from './stripe-lines.ts'
import { type Counting, readFacts, readOtherInvoices, toRecord } from './stripe-record.ts'
import { listInvoices } from './stripe-running.ts'

/**
 * Returns how much of an invoice can still be refunded or credited, with taxes. Later swaps may
 * have credited some of its time.
 */
export async function leftOfInvoice(
  context: StripeContext,
  invoice: Stripe.Invoice,
  counting: Counting,
): Promise<number> {
  const id = idOf(invoice.parent?.subscription_details?.subscription)
  const customer = idOf(invoice.customer) ?? ''
  const invoices = id === null ? [invoice] : await listInvoices(context, id, invoice.created)
  const facts = await readFacts(context, customer, invoices, counting)
  const waiting = id === null ? [] : await pendingLinesOf(context, { id, customer })
  const earlier = await readOtherInvoices(context, customer, { facts, counting })
  return toRecord({ facts, waiting, earlier }).leftOf(invoice.id)
}
