import type { FormObject } from '../../wire/form.ts'
import { isRecord } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** A credit note stood for one refund at most; since basil it stands for several, or for parts of them. */
export const creditNoteRefund: VersionChange = {
  since: '2025-03-31',
  name: 'credit-note-refund',
  params: {
    'CreditNotes.create': listTheRefund,
    'CreditNotes.preview': listTheRefund,
    'CreditNotes.listPreviewLineItems': listTheRefund,
  },
  objects: {
    credit_note(wire) {
      const [first] = Array.isArray(wire.refunds) ? wire.refunds : []
      wire.refund = isRecord(first) ? (first.refund ?? null) : null
      delete wire.refunds
    },
  },
  expandable: { credit_note: ['refund'] },
}

function listTheRefund(form: FormObject): void {
  const { refund } = form
  if (refund === undefined || form.refunds !== undefined) return
  form.refunds = { 0: { refund } }
  delete form.refund
}
