import type Stripe from 'stripe'
import { createBlankRow } from '../state/blank.ts'
import type { CreditNoteRow, InvoiceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createBelowOneFault,
  createInvalidRequestFault,
  createMutuallyExclusiveFault,
} from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import {
  createAmountLine,
  type NewCreditNoteLine,
  parseCreditNoteLines,
} from './credit-note-lines.ts'
import {
  checkCreditNoteSources,
  checkCreditNoteSplit,
  checkCreditNoteTotal,
  linkRefunds,
  returnPaidAmount,
} from './credit-note-refunds.ts'
import { listOpenInvoicePayments, markInvoicePaid } from './invoice-payment.ts'
import { groupDiscounts, groupTaxes, sumAmounts } from './invoice-totals.ts'

type Params = Stripe.CreditNoteCreateParams

/** A credit note with its lines, calculated but not issued. */
export interface DraftCreditNote {
  readonly note: CreditNoteRow
  readonly lines: readonly NewCreditNoteLine[]
}

/**
 * Calculates a credit note without issuing it.
 * @throws {StripeFault} If the credit note is not possible.
 */
export function draftCreditNote(
  work: UnitOfWork,
  params: Params,
  { requiresReturn = true }: { readonly requiresReturn?: boolean } = {},
): DraftCreditNote {
  const invoice = work.require('invoice', params.invoice, 'invoice')
  if (invoice.status !== 'open' && invoice.status !== 'paid') {
    throw createInvalidRequestFault(
      `You can only create credit notes for open or paid invoices. This invoice's status is ${invoice.status}.`,
      'invoice',
    )
  }
  const lines = buildNoteLines(work, invoice, params)
  const sums = computeNoteTotals(lines)
  const linked = linkRefunds(work, invoice, params.refunds ?? [])
  checkCreditNoteTotal(work, invoice, sums.total, linked)
  const before = Math.min(sums.total, invoice.amount_remaining)
  const after = sums.total - before
  if (requiresReturn || specifiesReturn(params)) checkCreditNoteSplit(params, linked, after)
  checkCreditNoteSources(work, invoice, params)
  const id = work.newId('cn_1')
  const number = String((invoice.$.creditNotes?.length ?? 0) + 1).padStart(2, '0')
  const note: CreditNoteRow = {
    ...createBlankRow('credit_note'),
    id,
    amount: sums.total,
    amount_shipping: 0,
    created: work.now,
    currency: invoice.currency,
    customer: invoice.customer ?? '',
    ...pickSentFields(params, 'memo', 'out_of_band_amount', 'reason'),
    effective_at: params.effective_at ?? work.now,
    invoice: invoice.id,
    lines: {
      object: 'list',
      data: lines.slice(0, 10).map(({ line }) => line),
      has_more: lines.length > 10,
      url: `/v1/credit_notes/${id}/lines`,
    },
    metadata: mergeMetadata({}, params.metadata),
    number: `${invoice.number}-CN-${number}`,
    pdf: `${work.context.baseUrl}/pages/credit_notes/${id}/pdf`,
    post_payment_amount: after,
    pre_payment_amount: before,
    pretax_credit_amounts: [],
    refunds: linked,
    status: 'issued',
    type: after === 0 ? 'pre_payment' : before === 0 ? 'post_payment' : 'mixed',
    ...sums,
    $: { lines: lines.map(({ line }) => line.id) },
  }
  return { note, lines }
}

/**
 * Issues a credit note: reduces the open amount of the invoice, and returns the rest of the credit
 * as the call requests.
 */
export function issueCreditNote(work: UnitOfWork, params: Params): CreditNoteRow {
  const { note, lines } = draftCreditNote(work, params)
  const invoice = work.edit('invoice', work.require('invoice', note.invoice))
  invoice.$.creditNotes = [...(invoice.$.creditNotes ?? []), note.id]
  for (const { line, by } of lines) {
    work.insert('credit_note_line_item', { ...line, $: { creditNote: note.id, by } })
  }
  returnPaidAmount(work, invoice, note, params)
  work.insert('credit_note', note, 'credit_note.created')
  invoice.post_payment_credit_notes_amount += note.post_payment_amount
  if (note.pre_payment_amount > 0) reduceAmountDue(work, invoice, note.pre_payment_amount)
  return note
}

/**
 * Voids a credit note and restores the amount due of its invoice. Rejected unless the invoice is
 * open and the credit note returned no paid amount.
 */
export function voidCreditNote(work: UnitOfWork, note: CreditNoteRow): void {
  const invoice = work.require('invoice', note.invoice)
  if (note.status === 'void')
    throw createInvalidRequestFault('This credit note has already been voided.')
  if (invoice.status !== 'open' || note.post_payment_amount > 0) {
    throw createInvalidRequestFault(
      `You can only void credit notes of open invoices. The status of ${invoice.id} is ${invoice.status}.`,
    )
  }
  work.edit('credit_note', note)
  note.status = 'void'
  note.voided_at = work.now
  reduceAmountDue(work, work.edit('invoice', invoice), -note.pre_payment_amount)
  work.emit('credit_note.voided', 'credit_note', note)
}

/** Whether the call says how to return the paid amount. A preview does not have to. */
function specifiesReturn(params: Params): boolean {
  const ways = ['credit_amount', 'out_of_band_amount', 'refund_amount'] as const
  return ways.some((way) => params[way] !== undefined)
}

function buildNoteLines(
  work: UnitOfWork,
  invoice: InvoiceRow,
  params: Params,
): readonly NewCreditNoteLine[] {
  const { amount, lines } = params
  if (amount !== undefined && lines !== undefined)
    throw createMutuallyExclusiveFault('amount, lines', 'amount')
  if (lines !== undefined && lines.length > 0) return parseCreditNoteLines(work, invoice, lines)
  if (amount === undefined) {
    throw createInvalidRequestFault(
      'You must specify one of these parameters: amount, lines.',
      'amount',
    )
  }
  if (amount < 1) throw createBelowOneFault('amount')
  return [createAmountLine(work, amount)]
}

/** Computes the totals of a credit note from its lines, as for an invoice. */
function computeNoteTotals(added: readonly NewCreditNoteLine[]) {
  const lines = added.map(({ line }) => line)
  const taxes = lines.flatMap((line) => line.taxes ?? [])
  const inclusive = sumAmounts(taxes.filter((tax) => tax.tax_behavior === 'inclusive'))
  const exclusive = sumAmounts(taxes) - inclusive
  const subtotal = sumAmounts(lines)
  const discounts = groupDiscounts(lines)
  const total = subtotal - sumAmounts(discounts) + exclusive
  return {
    discount_amount: sumAmounts(discounts),
    discount_amounts: discounts,
    subtotal,
    subtotal_excluding_tax: subtotal - inclusive,
    total,
    total_excluding_tax: total - exclusive - inclusive,
    total_taxes: groupTaxes(lines),
  }
}

/**
 * Reduces the invoice's open amount and the requested payment by `amount`. Marks the invoice paid
 * if nothing is left.
 */
function reduceAmountDue(work: UnitOfWork, invoice: InvoiceRow, amount: number): void {
  invoice.pre_payment_credit_notes_amount += amount
  invoice.amount_due -= amount
  invoice.amount_remaining -= amount
  if (invoice.amount_remaining === 0) {
    markInvoicePaid(work, invoice, { outOfBand: true })
    return
  }
  const intent = work.find('payment_intent', invoice.$.paymentIntent ?? '')
  if (intent) work.edit('payment_intent', intent).amount = invoice.amount_remaining
  for (const payment of listOpenInvoicePayments(work, invoice)) {
    work.edit('invoice_payment', payment).amount_requested = invoice.amount_remaining
  }
}
