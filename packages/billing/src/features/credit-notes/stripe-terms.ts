import type Stripe from 'stripe'
import { AmountTooLarge, InvalidArgument } from '../../core/errors/errors.ts'
import { formatValue } from '../../core/values/arguments.ts'
import { formatMoney, money } from '../../core/values/money.ts'
import { sumReturnedMoney } from '../../core/values/money-back.ts'
import { getReferencedId, listAll, type StripeContext } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import { readRemainingInvoiceAmount } from '../proration/stripe-paid-invoice.ts'
import { readInvoiceReturns } from '../proration/stripe-returned.ts'
import type { NewCreditNote, RemainingCredit } from './contract.ts'
import type { CreditedLine } from './credit-note.ts'

type Params = Stripe.CreditNoteCreateParams
type Line = Stripe.CreditNoteCreateParams.Line

/** The lines or amount that a credit note covers, and their total with discounts and taxes. */
interface CreditedPart {
  readonly what: Pick<Params, 'amount' | 'lines'>
  readonly total: number
}

/**
 * Remaining amounts: the part of the invoice that credit notes can still cover, the part of the
 * refund that they can still document, and the amount that can still be refunded to the card.
 */
export interface RemainingAmounts extends RemainingCredit {
  readonly onCards: number
}

/**
 * Returns the parameters of a Stripe credit note: the amount or lines that it covers, and how the
 * money is split between refund, balance and outside payments.
 */
export async function buildCreditNoteParams(
  context: StripeContext,
  requestedCreditNote: NewCreditNote,
  invoice: Stripe.Invoice,
): Promise<Params> {
  // Stripe refuses to refund a disputed charge.
  const disputes = requestedCreditNote.to !== 'refund'
  const left = await readRemainingAmounts(context, invoice, {
    refund: requestedCreditNote.refund ?? null,
    disputes,
  })
  const { what, total } = await chooseCreditedPart(context, requestedCreditNote, { invoice, left })
  requireCreditLeft(invoice, total, left)
  const paid = total - Math.min(total, invoice.amount_remaining)
  return { invoice: invoice.id, ...what, ...buildReturnParams(requestedCreditNote, paid, left) }
}

function requireCreditLeft(
  { currency }: Stripe.Invoice,
  total: number,
  remainingAmounts: RemainingAmounts,
): void {
  const most = remainingAmounts.ofInvoice + remainingAmounts.ofRefund
  if (total <= most) return
  const rest = formatMoney(money(most, currency))
  throw new AmountTooLarge(`Only ${rest} of the invoice can still be credited`)
}

/**
 * Reads how much of an invoice a credit note can still cover. Earlier refunds and credit for unused
 * time are subtracted, except for the refund that the credit note is to document.
 */
export async function readRemainingAmounts(
  context: StripeContext,
  invoice: Stripe.Invoice,
  { refund, disputes }: { readonly refund: string | null; readonly disputes: boolean },
): Promise<RemainingAmounts> {
  const { charges, refunds, notes } = await readInvoiceReturns(context, invoice)
  const sum = (amounts: readonly number[]) => amounts.reduce((all, each) => all + each, 0)
  const links = notes.filter(({ status }) => status !== 'void').flatMap((note) => note.refunds)
  const own = links.filter((link) => getReferencedId(link.refund) === refund)
  const captured = sum(charges.map(({ amount_captured }) => amount_captured))
  const refunded = sumReturnedMoney({ refunds, disputes: [], creditNotes: [] })
  // A refund can fail after a credit note documented it. It no longer counts as a refund then.
  const unexplained = Math.max(0, refunded - sum(links.map((link) => link.amount_refunded)))
  const credited =
    invoice.pre_payment_credit_notes_amount + invoice.post_payment_credit_notes_amount
  const ofInvoice = Math.max(0, invoice.total - credited - unexplained)
  const ofTime = await readRemainingInvoiceAmount(context, invoice, { gifts: false, disputes })
  return {
    ofInvoice: Math.min(ofInvoice, ofTime),
    ofRefund:
      refund === null
        ? 0
        : (await readRefundAmount(context, refund, charges)) -
          sum(own.map(({ amount_refunded }) => amount_refunded)),
    onCards: captured - refunded,
  }
}

/**
 * Returns the amount of a refund of one of these charges.
 * @throws InvalidArgument if it does not exist or belongs to other charges.
 */
async function readRefundAmount(
  { stripe }: StripeContext,
  refund: string,
  charges: readonly Stripe.Charge[],
): Promise<number> {
  const found = await stripe.refunds.retrieve(refund).catch((error) => {
    if (isMissingObjectError(error)) return null
    throw error
  })
  if (found && charges.some(({ id }) => id === getReferencedId(found.charge))) return found.amount
  throw new InvalidArgument(
    `The invoice has no refund ${formatValue(refund)}: pass the id of one of its refunds`,
  )
}

async function chooseCreditedPart(
  context: StripeContext,
  { of, refund }: NewCreditNote,
  { invoice, left }: { readonly invoice: Stripe.Invoice; readonly left: RemainingAmounts },
): Promise<CreditedPart> {
  if (of !== null && 'amount' in of) return toCreditedAmount(of.amount)
  const { stripe } = context
  const all = await listAll(stripe.invoices.listLineItems(invoice.id, { limit: 100 }))
  const asked = { invoice: invoice.id, ...buildRefundParam(refund, left.ofRefund) }
  if (of !== null) return previewCreditedTotal(context, asked, buildCreditedLines(all, of))
  const rest = refund ? left.ofRefund : left.ofInvoice
  const whole =
    rest === invoice.total
      ? await previewCreditedTotal(context, asked, buildWholeInvoiceLines(all))
      : null
  return whole?.total === invoice.total ? whole : toCreditedAmount(rest)
}

function toCreditedAmount(amount: number): CreditedPart {
  return { what: { amount }, total: amount }
}

/**
 * Returns the lines that credit a whole invoice with its taxes. Stripe rejects lines of zero or
 * below, so negative lines are deducted from the others.
 */
function buildWholeInvoiceLines(all: readonly Stripe.InvoiceLineItem[]): Line[] {
  let less = all.reduce((sum, { amount }) => sum - Math.min(amount, 0), 0)
  const isPlain = less === 0
  return all.flatMap(({ id, amount, quantity }): Line[] => {
    const off = Math.min(less, Math.max(amount, 0))
    less -= off
    if (amount - off <= 0) return []
    return [
      {
        ...toInvoiceLineParam(id),
        ...(isPlain ? { quantity: quantity ?? 1 } : { amount: amount - off }),
      },
    ]
  })
}

function buildCreditedLines(
  all: readonly Stripe.InvoiceLineItem[],
  wanted: readonly CreditedLine[],
): Line[] {
  return wanted.map(({ line, quantity }) => {
    const count = all.find(({ id }) => id === line)?.quantity ?? 1
    return { ...toInvoiceLineParam(line), quantity: quantity ?? count }
  })
}

function toInvoiceLineParam(line: string) {
  return { type: 'invoice_line_item', invoice_line_item: line } as const
}

/** Asks Stripe for the total, because its rounding cannot be reproduced here. */
async function previewCreditedTotal(
  { stripe }: StripeContext,
  asked: Pick<Params, 'invoice' | 'refunds'>,
  lines: Line[],
): Promise<CreditedPart> {
  if (lines.length === 0) return { what: {}, total: 0 }
  const { total } = await stripe.creditNotes.preview({ ...asked, lines })
  return { what: { lines }, total }
}

function buildRefundParam(
  refund: string | null | undefined,
  amount: number,
): Pick<Params, 'refunds'> {
  return refund && amount > 0 ? { refunds: [{ refund, amount_refunded: amount }] } : {}
}

/**
 * Returns the parameters that tell Stripe where the paid part of the invoice goes. Stripe requires
 * them. The part that was paid with credit cannot go back to a card.
 */
function buildReturnParams(
  { to, refund }: NewCreditNote,
  paid: number,
  left: RemainingAmounts,
): Partial<Params> {
  if (paid === 0) return {}
  const explained = refund ? Math.min(paid, left.ofRefund) : 0
  const rest = paid - explained
  const toCard = to === 'refund' ? Math.min(rest, left.onCards) : 0
  const toBalance = to === 'outside' ? 0 : rest - toCard
  return {
    ...buildRefundParam(refund, explained),
    ...(toCard > 0 ? { refund_amount: toCard } : {}),
    ...(toBalance > 0 ? { credit_amount: toBalance } : {}),
    ...(to === 'outside' && rest > 0 ? { out_of_band_amount: rest } : {}),
  }
}
