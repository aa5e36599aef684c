import type Stripe from 'stripe'
import { InvalidArgument } from '../../../errors.ts'
import type { CreditedLine } from '../../../invoices/credit-note.ts'
import { shown } from '../../../values/arguments.ts'
import type { CreditLeft, NewCreditNote } from '../../contract/parts/money/credit-notes.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'

type Params = Stripe.CreditNoteCreateParams
type Line = Stripe.CreditNoteCreateParams.Line

/** What is taken back, and what that comes to with discounts and taxes. */
interface Credited {
  readonly what: Pick<Params, 'amount' | 'lines'>
  readonly total: number
}

/** What is left of an invoice: for notes, of a refund that is to be explained, and on the cards that paid it. */
export interface Left extends CreditLeft {
  readonly onCards: number
}

/** What a note says of an invoice, and where its money goes, to the cent. */
export async function noteParams(
  context: StripeContext,
  wanted: NewCreditNote,
  invoice: Stripe.Invoice,
): Promise<Params> {
  const left = await leftOf(context, invoice, wanted.refund ?? null)
  const { what, total } = await toCredit(context, wanted, { invoice, left })
  const paid = total - Math.min(total, invoice.amount_remaining)
  return { invoice: invoice.id, ...what, ...wayBack(wanted, paid, left) }
}

/** Refunds count as well: what they gave back cannot be given back by a note, unless it explains them. */
export async function leftOf(
  context: StripeContext,
  invoice: Stripe.Invoice,
  refund: string | null,
): Promise<Left> {
  const { stripe } = context
  const links: Stripe.CreditNote.Refund[] = []
  for await (const note of stripe.creditNotes.list({ invoice: invoice.id, limit: 100 })) {
    if (note.status !== 'void') links.push(...note.refunds)
  }
  const charges = await chargesOf(context, invoice.id)
  const sum = (amounts: readonly number[]) => amounts.reduce((all, each) => all + each, 0)
  const refunded = sum(charges.map(({ amount_refunded }) => amount_refunded))
  const explained = sum(links.map(({ amount_refunded }) => amount_refunded))
  // One that failed was explained before, and is no refund any more.
  const unexplained = Math.max(0, refunded - explained)
  const credited =
    invoice.pre_payment_credit_notes_amount + invoice.post_payment_credit_notes_amount
  const own = links.filter((link) => idOf(link.refund) === refund)
  return {
    ofInvoice: Math.max(0, invoice.total - credited - unexplained),
    ofRefund:
      refund === null
        ? 0
        : (await amountOf(context, refund, charges)) -
          sum(own.map(({ amount_refunded }) => amount_refunded)),
    onCards: sum(charges.map(({ amount_captured }) => amount_captured)) - refunded,
  }
}

/** Of a refund that belongs to one of these charges; any other looks like none. */
async function amountOf(
  { stripe }: StripeContext,
  refund: string,
  charges: readonly Stripe.Charge[],
): Promise<number> {
  const found = await stripe.refunds.retrieve(refund).catch((error) => {
    if (isMissing(error)) return null
    throw error
  })
  if (found && charges.some(({ id }) => id === idOf(found.charge))) return found.amount
  throw new InvalidArgument(
    `The invoice has no refund ${shown(refund)}: give the id of one of its refunds`,
  )
}

async function chargesOf({ stripe }: StripeContext, invoice: string): Promise<Stripe.Charge[]> {
  const charges: Stripe.Charge[] = []
  for await (const { payment } of stripe.invoicePayments.list({ invoice, status: 'paid' })) {
    const intent = idOf(payment.payment_intent)
    const paid = intent ? (await stripe.paymentIntents.retrieve(intent)).latest_charge : null
    const charge = idOf(paid) ?? idOf(payment.charge)
    if (charge !== null) charges.push(await stripe.charges.retrieve(charge))
  }
  return charges
}

async function toCredit(
  context: StripeContext,
  { of, refund }: NewCreditNote,
  { invoice, left }: { readonly invoice: Stripe.Invoice; readonly left: Left },
): Promise<Credited> {
  if (of !== null && 'amount' in of) return ofAmount(of.amount)
  const { stripe } = context
  const all: Stripe.InvoiceLineItem[] = []
  for await (const line of stripe.invoices.listLineItems(invoice.id, { limit: 100 })) all.push(line)
  const asked = { invoice: invoice.id, ...explaining(refund, left.ofRefund) }
  if (of !== null) return preview(context, asked, ofLines(all, of))
  const rest = refund ? left.ofRefund : left.ofInvoice
  const whole = rest === invoice.total ? await preview(context, asked, wholeOf(all)) : null
  return whole?.total === invoice.total ? whole : ofAmount(rest)
}

function ofAmount(amount: number): Credited {
  return { what: { amount }, total: amount }
}

/**
 * A whole invoice line by line, with its taxes. Stripe takes no lines of nothing, and none below zero: what those give back is taken
 * off the others.
 */
function wholeOf(all: readonly Stripe.InvoiceLineItem[]): Line[] {
  let less = all.reduce((sum, { amount }) => sum - Math.min(amount, 0), 0)
  const isPlain = less === 0
  return all.flatMap(({ id, amount, quantity }): Line[] => {
    const off = Math.min(less, Math.max(amount, 0))
    less -= off
    if (amount - off <= 0) return []
    return [{ ...named(id), ...(isPlain ? { quantity: quantity ?? 1 } : { amount: amount - off }) }]
  })
}

function ofLines(all: readonly Stripe.InvoiceLineItem[], wanted: readonly CreditedLine[]): Line[] {
  return wanted.map(({ line, quantity }) => {
    const count = all.find(({ id }) => id === line)?.quantity ?? 1
    return { ...named(line), quantity: quantity ?? count }
  })
}

function named(line: string) {
  return { type: 'invoice_line_item', invoice_line_item: line } as const
}

/** Only Stripe knows how it rounds. */
async function preview(
  { stripe }: StripeContext,
  asked: Pick<Params, 'invoice' | 'refunds'>,
  lines: Line[],
): Promise<Credited> {
  if (lines.length === 0) return { what: {}, total: 0 }
  const { total } = await stripe.creditNotes.preview({ ...asked, lines })
  return { what: { lines }, total }
}

function explaining(refund: string | null | undefined, amount: number): Pick<Params, 'refunds'> {
  return refund && amount > 0 ? { refunds: [{ refund, amount_refunded: amount }] } : {}
}

/** Stripe wants to be told where the part that was paid goes. What credit had paid cannot go back to a card. */
function wayBack({ to, refund }: NewCreditNote, paid: number, left: Left): Partial<Params> {
  if (paid === 0) return {}
  const explained = refund ? Math.min(paid, left.ofRefund) : 0
  const rest = paid - explained
  const toCard = to === 'refund' ? Math.min(rest, left.onCards) : 0
  const toBalance = to === 'outside' ? 0 : rest - toCard
  return {
    ...explaining(refund, explained),
    ...(toCard > 0 ? { refund_amount: toCard } : {}),
    ...(toBalance > 0 ? { credit_amount: toBalance } : {}),
    ...(to === 'outside' && rest > 0 ? { out_of_band_amount: rest } : {}),
  }
}
