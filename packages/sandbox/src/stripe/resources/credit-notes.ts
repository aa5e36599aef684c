import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { draftCreditNote, issueCreditNote, voidCreditNote } from '../invoices/credit-notes.ts'
import { render } from '../state/render.ts'
import { mergeMetadata } from '../wire/metadata.ts'

/** Less is owed of an invoice, or something of what was paid is given back. */
export const creditNotes: Operations = {
  'CreditNotes.create': op<Stripe.CreditNoteCreateParams>((params, { work }) =>
    render('credit_note', issueCreditNote(work, params), work.tables),
  ),

  'CreditNotes.retrieve': op((_params, call) =>
    render('credit_note', call.work.require('credit_note', idOf(call)), call.work.tables),
  ),

  'CreditNotes.update': op<Stripe.CreditNoteUpdateParams>((params, call) => {
    const { work } = call
    const note = work.edit('credit_note', work.require('credit_note', idOf(call)))
    if (params.memo !== undefined) note.memo = params.memo || null
    note.metadata = mergeMetadata(note.metadata, params.metadata)
    return render('credit_note', note, work.tables)
  }),

  'CreditNotes.voidCreditNote': op((_params, call) => {
    const note = call.work.require('credit_note', idOf(call))
    voidCreditNote(call.work, note)
    return render('credit_note', note, call.work.tables)
  }),

  'CreditNotes.list': op<Stripe.CreditNoteListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables.credit_note.newestFirst(),
      (row) =>
        (params.customer === undefined || row.customer === params.customer) &&
        (params.invoice === undefined || row.invoice === params.invoice) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('credit_note', row, work.tables))
  }),

  'CreditNotes.listLineItems': op<Stripe.CreditNoteListLineItemsParams>((params, call) => {
    const { work, ids, path } = call
    const rows = work
      .require('credit_note', ids[0] ?? '')
      .$.lines.map((id) => work.require('credit_note_line_item', id))
    return listPage(rows, params, path, (row) => render('credit_note_line_item', row, work.tables))
  }),

  'CreditNotes.preview': op<Stripe.CreditNotePreviewParams>((params, { work }) =>
    render('credit_note', draftCreditNote(work, params, { needsWay: false }).note, work.tables),
  ),

  'CreditNotes.listPreviewLineItems': op<Stripe.CreditNoteListPreviewLineItemsParams>(
    (params, { work, path }) =>
      listPage(
        draftCreditNote(work, params, { needsWay: false }).lines.map(({ line }) => line),
        params,
        path,
        (line) => line,
      ),
  ),
}
