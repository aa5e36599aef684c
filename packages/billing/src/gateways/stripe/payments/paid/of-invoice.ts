import type Stripe from 'stripe'
import { idOf, type StripeContext } from '../../sdk/client.ts'
import { pendingLinesOf } from './lines.ts'
import { type Counting, readEarlier, readFacts, toRecord } from './record.ts'

/** Returns how much of an invoice can still go back, with taxes. Later swaps may have credited some of its time. */
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
  const earlier = await readEarlier(context, customer, { facts, counting })
  return toRecord({ facts, waiting, earlier }).leftOf(invoice.id)
}

/** Lists the invoices of a subscription created since then (Unix seconds). */
export async function listInvoices(
  { stripe }: StripeContext,
  subscription: string,
  since: number,
): Promise<Stripe.Invoice[]> {
  const found: Stripe.Invoice[] = []
  const query = { subscription, created: { gte: since }, limit: 100 }
  for await (const invoice of stripe.invoices.list(query)) found.push(invoice)
  return found
}
