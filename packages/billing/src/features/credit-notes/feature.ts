import { defineCapability } from '../define-feature.ts'
import type { DownloadOptions } from '../invoices/download.ts'
import type { CreditNote } from './credit-note.ts'
import { createStripeCreditNotes } from './stripe.ts'
import {
  type CreditNoteListOptions,
  downloadCreditNote,
  findCreditNote,
  listCreditNotes,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Lists the user's credit notes, newest first: all of them, or the newest `limit`.
     * `invoice.creditNote()` issues one.
     */
    creditNotes(options?: CreditNoteListOptions): Promise<CreditNote[]>

    /**
     * Finds one of the user's own credit notes. `null` if there is none, or it belongs to another
     * user.
     */
    findCreditNote(id: string): Promise<CreditNote | null>

    /**
     * Returns the credit note as a PDF download.
     * @throws CreditNoteNotFound if there is none, or it belongs to another user.
     */
    downloadCreditNote(id: string, options: DownloadOptions): Promise<Response>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    credit_note: true
  }
}

/** Credit notes, for providers that issue them. */
export const creditNotesCapability = defineCapability('creditNotes', {
  user: {
    creditNotes: (user, options = {}) => listCreditNotes(user, options),
    findCreditNote,
    downloadCreditNote,
  },
  invoice: ['creditNote'],
  operations: { credit_note: null },
  stripe: createStripeCreditNotes,
})
