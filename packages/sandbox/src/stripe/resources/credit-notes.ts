import { listPage } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  customOperation,
  listOperation,
  retrieveOperation,
  updateOperation,
} from '../api/resource.ts'
import { draftCreditNote, issueCreditNote, voidCreditNote } from '../invoices/credit-notes.ts'
import { renderRow } from '../state/render.ts'

/**
 * Operations on credit notes, which reduce the open amount of an invoice or return a part of the
 * paid amount.
 */
export const creditNoteOperations: StripeOperations = {
  'CreditNotes.create': customOperation('credit_note', (params, { work }) =>
    issueCreditNote(work, params),
  ),
  'CreditNotes.retrieve': retrieveOperation('credit_note'),
  'CreditNotes.update': updateOperation('credit_note', ['memo']),
  'CreditNotes.voidCreditNote': changeOperation('credit_note', (note, _params, { work }) =>
    voidCreditNote(work, note),
  ),
  'CreditNotes.list': listOperation('credit_note'),
  'CreditNotes.listLineItems': (params, { work, id, path }) => {
    const { lines } = work.require('credit_note', id).$
    const rows = lines.map((line) => work.require('credit_note_line_item', line))
    return listPage(rows, params, path, (row) =>
      renderRow('credit_note_line_item', row, work.tables),
    )
  },
  'CreditNotes.preview': customOperation(
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
