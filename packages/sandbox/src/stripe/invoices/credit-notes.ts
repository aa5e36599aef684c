import type Stripe from 'stripe'
import type { CreditNoteRow, InvoiceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { lineOfAmount, type NewNoteLine, readLines } from './credit-note-lines.ts'
import {
  checkSources,
  checkSplit,
  checkTotal,
  giveBack,
  linkRefunds,
} from './credit-note-refunds.ts'
import { markPaid } from './invoice-payment.ts'
import { groupDiscounts, groupTaxes, sumOf } from './invoice-totals.ts'

type Params = Stripe.CreditNoteCreateParams

/** A note as it would be, and the lines it would have. Nothing is changed yet. */
export interface DraftNote {
  readonly note: CreditNoteRow
  readonly lines: readonly NewNoteLine[]
}

/** Works out a credit note, or refuses it. */
export function draftCreditNote(
  work: UnitOfWork,
  params: Params,
  { needsWay = true }: { readonly needsWay?: boolean } = {},
): DraftNote {
  const invoice = work.require('invoice', params.invoice, 'invoice')
  if (invoice.status !== 'open' && invoice.status !== 'paid') {
    throw invalidRequest(
      `You can only create credit notes for open or paid invoices. This invoice's status is ${invoice.status}.`,
      'invoice',
    )
  }
  const lines = linesOf(work, invoice, params)
  const sums = addUp(lines)
  const linked = linkRefunds(work, invoice, params.refunds ?? [])
  checkTotal(work, invoice, sums.total, linked)
  const before = Math.min(sums.total, invoice.amount_remaining)
  const after = sums.total - before
  if (needsWay || namesWay(params)) checkSplit(params, linked, after)
  checkSources(work, invoice, params)
  const id = work.newId('cn_1')
  const number = String((invoice.$.creditNotes?.length ?? 0) + 1).padStart(2, '0')
  const note: CreditNoteRow = {
    id,
    object: 'credit_note',
    amount: sums.total,
    amount_shipping: 0,
    created: work.now,
    currency: invoice.currency,
    customer: invoice.customer ?? '',
    customer_account: null,
    customer_balance_transaction: null,
    effective_at: params.effective_at ?? work.now,
    invoice: invoice.id,
    lines: {
      object: 'list',
      data: lines.slice(0, 10).map(({ line }) => line),
      has_more: lines.length > 10,
      url: `/v1/credit_notes/${id}/lines`,
    },
    livemode: false,
    memo: params.memo ?? null,
    metadata: mergeMetadata({}, params.metadata),
    number: `${invoice.number}-CN-${number}`,
    out_of_band_amount: params.out_of_band_amount ?? null,
    pdf: `${work.context.baseUrl}/pages/credit_notes/${id}/pdf`,
    post_payment_amount: after,
    pre_payment_amount: before,
    pretax_credit_amounts: [],
    reason: params.reason ?? null,
    refunds: linked,
    shipping_cost: null,
    status: 'issued',
    type: after === 0 ? 'pre_payment' : before === 0 ? 'post_payment' : 'mixed',
    voided_at: null,
    ...sums,
    $: { lines: lines.map(({ line }) => line.id) },
  }
  return { note, lines }
}

/** Issues the note: what is still owed becomes less, the rest is given back as was asked. */
export function issueCreditNote(work: UnitOfWork, params: Params): CreditNoteRow {
  const { note, lines } = draftCreditNote(work, params)
  const invoice = work.edit('invoice', work.require('invoice', note.invoice))
  invoice.$.creditNotes = [...(invoice.$.creditNotes ?? []), note.id]
  for (const { line, by } of lines) {
    work.insert('credit_note_line_item', { ...line, $: { creditNote: note.id, by } })
  }
  giveBack(work, invoice, note, params)
  work.insert('credit_note', note, 'credit_note.created')
  invoice.post_payment_credit_notes_amount += note.post_payment_amount
  if (note.pre_payment_amount > 0) oweLess(work, invoice, note.pre_payment_amount)
  return note
}

/** Only what nobody has paid yet can be taken back. */
export function voidCreditNote(work: UnitOfWork, note: CreditNoteRow): void {
  const invoice = work.require('invoice', note.invoice)
  if (note.status === 'void') {
    throw invalidRequest('This credit note has already been voided.')
  }
  if (invoice.status !== 'open' || note.post_payment_amount > 0) {
    throw invalidRequest(
      `You can only void credit notes of open invoices. The status of ${invoice.id} is ${invoice.status}.`,
    )
  }
  work.edit('credit_note', note)
  note.status = 'void'
  note.voided_at = work.now
  oweLess(work, work.edit('invoice', invoice), -note.pre_payment_amount)
  work.emit('credit_note.voided', 'credit_note', note)
}

/** A preview tells what is to be given back also to those who have not said how. */
function namesWay(params: Params): boolean {
  const ways = ['credit_amount', 'out_of_band_amount', 'refund_amount'] as const
  return ways.some((way) => params[way] !== undefined)
}

function linesOf(work: UnitOfWork, invoice: InvoiceRow, params: Params): readonly NewNoteLine[] {
  const { amount, lines } = params
  if (amount !== undefined && lines !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: amount, lines.', 'amount')
  }
  if (lines !== undefined && lines.length > 0) return readLines(work, invoice, lines)
  if (amount === undefined) {
    throw invalidRequest('You must specify one of these parameters: amount, lines.', 'amount')
  }
  if (amount < 1) {
    throw invalidRequest(
      'This value must be greater than or equal to 1.',
      'amount',
      'parameter_invalid_integer',
    )
  }
  return [lineOfAmount(work, amount)]
}

/** The note's sums from its lines, as an invoice's. */
function addUp(added: readonly NewNoteLine[]) {
  const lines = added.map(({ line }) => line)
  const taxes = lines.flatMap((line) => line.taxes ?? [])
  const inclusive = sumOf(taxes.filter((tax) => tax.tax_behavior === 'inclusive'))
  const exclusive = sumOf(taxes) - inclusive
  const subtotal = sumOf(lines)
  const discounts = groupDiscounts(lines)
  const total = subtotal - sumOf(discounts) + exclusive
  return {
    discount_amount: sumOf(discounts),
    discount_amounts: discounts,
    subtotal,
    subtotal_excluding_tax: subtotal - inclusive,
    total,
    total_excluding_tax: total - exclusive - inclusive,
    total_taxes: groupTaxes(lines),
  }
}

/** `amount` less is owed, and asked of the payment; nothing left to pay is paid. */
function oweLess(work: UnitOfWork, invoice: InvoiceRow, amount: number): void {
  invoice.pre_payment_credit_notes_amount += amount
  invoice.amount_due -= amount
  invoice.amount_remaining -= amount
  if (invoice.amount_remaining === 0) {
    markPaid(work, invoice, { outOfBand: true })
    return
  }
  const intent = work.find('payment_intent', invoice.$.paymentIntent ?? '')
  if (intent) work.edit('payment_intent', intent).amount = invoice.amount_remaining
  for (const payment of work.findBy('invoice_payment', 'invoice', invoice.id)) {
    if (payment.status !== 'open') continue
    work.edit('invoice_payment', payment).amount_requested = invoice.amount_remaining
  }
}
