import { listPage } from '../api/lists.ts'
import type { Operations } from '../api/operation.ts'
import { answer, change, list, retrieve, update } from '../api/resource.ts'
import { draftCreditNote, issueCreditNote, voidCreditNote } from '../invoices/credit-notes.ts'
import { render } from '../state/render.ts'

/**
 * Operations on credit notes, which reduce the open amount of an invoice or return a part of the
 * paid amount.
 */
export const creditNotes: Operations = {
  'CreditNotes.create': answer('credit_note', (params, { work }) => issueCreditNote(work, params)),
  'CreditNotes.retrieve': retrieve('credit_note'),
  'CreditNotes.update': update('credit_note', ['memo']),
  'CreditNotes.voidCreditNote': change('credit_note', (note, _params, { work }) =>
    voidCreditNote(work, note),
  ),
  'CreditNotes.list': list('credit_note'),
  'CreditNotes.listLineItems': (params, { work, id, path }) => {
    const { lines } = work.require('credit_note', id).$
    const rows = lines.map((line) => work.require('credit_note_line_item', line))
    return listPage(rows, params, path, (row) => render('credit_note_line_item', row, work.tables))
  },
  'CreditNotes.preview': answer(
    'credit_note',
    (params, { work }) => draftCreditNote(work, params, { requiresReturn: false }).note,
  ),
  'CreditNotes.listPreviewLineItems': (params, { work, path }) => {
    const { lines } = draftCreditNote(work, params, { requiresReturn: false })
    return listPage(
      lines.map(({ line }) => line),
      params,
      path,
      (line) => line,
    )
  },
}
