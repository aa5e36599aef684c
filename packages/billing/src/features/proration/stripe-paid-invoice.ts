import type Stripe from 'stripe'
import { getReferencedId, type StripeContext } from '../../providers/stripe/client.ts'
import { readPendingLines } from './stripe-lines.ts'
import {
  type ReturnedMoneyOptions,
  readInvoiceMoney,
  readOtherInvoices,
  toPaidTimeRecord,
} from './stripe-record.ts'
import { listInvoicesSince } from './stripe-running.ts'

/**
 * Reads how much of a Stripe invoice can still be refunded or credited, with taxes. Credit that
 * later swaps gave for its unused time is subtracted.
 */
export async function readRemainingInvoiceAmount(
  context: StripeContext,
  invoice: Stripe.Invoice,
  counting: ReturnedMoneyOptions,
): Promise<number> {
  const id = getReferencedId(invoice.parent?.subscription_details?.subscription)
  const customer = getReferencedId(invoice.customer) ?? ''
  const invoices = id === null ? [invoice] : await listInvoicesSince(context, id, invoice.created)
  const facts = await readInvoiceMoney(context, customer, invoices, counting)
  const waiting = id === null ? [] : await readPendingLines(context, { id, customer })
  const earlier = await readOtherInvoices(context, customer, { facts, counting })
  return toPaidTimeRecord({ facts, waiting, earlier }).leftOf(invoice.id)
}
