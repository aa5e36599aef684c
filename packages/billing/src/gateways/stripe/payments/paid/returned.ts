import type Stripe from 'stripe'
import type { Returned } from '../../../../values/paid/money-back.ts'
import type { StripeContext } from '../../sdk/client.ts'
import { statusOfDispute } from '../disputes.ts'

/** Money of an invoice that went back, with the objects that say so. */
export interface ReturnedOfInvoice extends Returned {
  readonly charges: readonly Stripe.Charge[]
  readonly notes: readonly Stripe.CreditNote[]
}

/** Reads refunds, disputes and credit notes, only if the invoice or its charges say that there are any. */
export async function readReturned(
  context: StripeContext,
  invoice: Stripe.Invoice,
): Promise<ReturnedOfInvoice> {
  const charges = await chargesOf(context, invoice)
  const notes = await notesOf(context, invoice)
  const refunds: Stripe.Refund[] = []
  const disputes: Stripe.Dispute[] = []
  for (const { id: charge, amount_refunded, disputed } of charges) {
    if (amount_refunded > 0) refunds.push(...(await all(context.stripe.refunds.list({ charge }))))
    if (disputed) disputes.push(...(await all(context.stripe.disputes.list({ charge }))))
  }
  return {
    charges,
    notes,
    refunds: refunds.map((refund) => ({ amount: refund.amount, hasFailed: hasFailed(refund) })),
    disputes: disputes.map(({ amount, status }) => ({ amount, status: statusOfDispute(status) })),
    creditNotes: notes.map(({ amount, refunds: links, status }) => ({
      amount,
      refunded: links.reduce((sum, link) => sum + link.amount_refunded, 0),
      isVoid: status === 'void',
    })),
  }
}

async function chargesOf(
  { stripe }: StripeContext,
  { id: invoice, amount_paid }: Stripe.Invoice,
): Promise<Stripe.Charge[]> {
  if (amount_paid === 0) return []
  const payments = stripe.invoicePayments.list({
    invoice,
    status: 'paid',
    limit: 100,
    expand: ['data.payment.payment_intent.latest_charge', 'data.payment.charge'],
  })
  const charges: Stripe.Charge[] = []
  for await (const { payment } of payments) {
    const intent = payment.payment_intent as Stripe.PaymentIntent | undefined
    const charge = intent?.latest_charge ?? payment.charge ?? null
    if (typeof charge === 'string') charges.push(await stripe.charges.retrieve(charge))
    else if (charge !== null) charges.push(charge as Stripe.Charge)
  }
  return charges
}

async function notesOf(
  { stripe }: StripeContext,
  invoice: Stripe.Invoice,
): Promise<Stripe.CreditNote[]> {
  const { pre_payment_credit_notes_amount: before, post_payment_credit_notes_amount: after } =
    invoice
  if (before + after === 0) return []
  return all(stripe.creditNotes.list({ invoice: invoice.id, limit: 100 }))
}

/** Whether a refund moved no money: Stripe returns it to the merchant's balance. */
export function hasFailed({ status }: Stripe.Refund): boolean {
  return status === 'failed' || status === 'canceled'
}

async function all<T>(listed: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const each of listed) found.push(each)
  return found
}
