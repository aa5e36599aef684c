import type Stripe from 'stripe'
import type { ReturnedMoney } from '../../core/values/money-back.ts'
import { getReferencedId, listAll, type StripeContext } from '../../providers/stripe/client.ts'
import { isGiftBalanceEntry } from '../balance/stripe.ts'
import { toDisputeStatus } from '../disputes/stripe.ts'

/**
 * The money of a Stripe invoice that was returned, with the refunds, disputes and credit notes that
 * returned it.
 */
export interface InvoiceReturns extends ReturnedMoney {
  readonly charges: readonly Stripe.Charge[]
  readonly notes: readonly Stripe.CreditNote[]
}

/**
 * Reads the refunds, disputes and credit notes of a Stripe invoice. Sends requests only if the
 * invoice or its charges have refunds, disputes or credit notes.
 */
export async function readInvoiceReturns(
  context: StripeContext,
  invoice: Stripe.Invoice,
): Promise<InvoiceReturns> {
  const charges = await listInvoiceCharges(context, invoice)
  const notes = await listInvoiceCreditNotes(context, invoice)
  const refunds: Stripe.Refund[] = []
  const disputes: Stripe.Dispute[] = []
  for (const { id: charge, amount_refunded, disputed } of charges) {
    if (amount_refunded > 0)
      refunds.push(...(await listAll(context.stripe.refunds.list({ charge }))))
    if (disputed) disputes.push(...(await listAll(context.stripe.disputes.list({ charge }))))
  }
  return {
    charges,
    notes,
    refunds: refunds.map((refund) => ({
      amount: refund.amount,
      hasFailed: isFailedRefund(refund),
    })),
    disputes: disputes.map(({ amount, status }) => ({ amount, status: toDisputeStatus(status) })),
    creditNotes: notes.map(({ amount, refunds: links, status }) => ({
      amount,
      refunded: links.reduce((sum, link) => sum + link.amount_refunded, 0),
      isVoid: status === 'void',
    })),
  }
}

async function listInvoiceCharges(
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

async function listInvoiceCreditNotes(
  { stripe }: StripeContext,
  invoice: Stripe.Invoice,
): Promise<Stripe.CreditNote[]> {
  const { pre_payment_credit_notes_amount: before, post_payment_credit_notes_amount: after } =
    invoice
  if (before + after === 0) return []
  return listAll(stripe.creditNotes.list({ invoice: invoice.id, limit: 100 }))
}

/**
 * Whether a Stripe refund has failed or was cancelled, so that the merchant still has the money.
 */
export function isFailedRefund({ status }: Stripe.Refund): boolean {
  return status === 'failed' || status === 'canceled'
}

/** An entry of a Stripe customer's balance. Positive amounts are credit for the customer. */
export interface BalanceTransaction {
  readonly amount: number
  readonly isGift: boolean
  readonly invoice: string | null
}

/**
 * Calculates how much of each invoice was paid by gifts (credit that the merchant granted without a
 * payment). Other credit of the customer is used first. If an invoice returns credit to the
 * balance, this credit counts as a gift again, up to the amount that gifts had paid.
 * @param entries All entries of the customer's balance, oldest first.
 */
export function computeGiftsByInvoice(entries: readonly BalanceTransaction[]): Map<string, number> {
  const used = new Map<string, number>()
  let [own, gifts] = [0, 0]
  for (const { amount, isGift: isGiven, invoice } of entries) {
    const before = used.get(invoice ?? '') ?? 0
    if (amount > 0) {
      const given = isGiven ? amount : Math.min(amount, before)
      gifts += given
      own += amount - given
      if (!isGiven && invoice !== null) used.set(invoice, before - given)
      continue
    }
    const taken = Math.min(gifts, Math.max(0, -amount - Math.max(0, own)))
    gifts -= taken
    own += amount + taken
    if (invoice !== null) used.set(invoice, before + taken)
  }
  return used
}

export async function readGiftsByInvoice(
  { stripe }: StripeContext,
  customer: string,
): Promise<Map<string, number>> {
  const listed = stripe.customers.listBalanceTransactions(customer, { limit: 100 })
  return computeGiftsByInvoice((await listAll(listed)).map(describe).reverse())
}

function describe(entry: Stripe.CustomerBalanceTransaction): BalanceTransaction {
  return {
    amount: -entry.amount,
    isGift: isGiftBalanceEntry(entry),
    invoice: getReferencedId(entry.invoice),
  }
}
