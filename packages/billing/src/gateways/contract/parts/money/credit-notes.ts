import type {
  CreditedLine,
  CreditNoteData,
  CreditNoteReason,
  CreditNoteTo,
} from '../../../../invoices/credit-note.ts'
import type { Money } from '../../../../values/money.ts'

/** A credit note to be written. */
export interface NewCreditNote {
  /** Whose invoice it is. */
  readonly customerId: string
  /** The provider's id of the invoice. */
  readonly invoice: string
  /** An amount, or lines of the invoice; null for all that is left of the invoice. */
  readonly of: Money | readonly CreditedLine[] | null
  /** Where the money goes. */
  readonly to: CreditNoteTo
  /** The provider's id of a refund that was made before and that it explains. Without an amount or lines: of so much. */
  readonly refund?: string | null
  /** Why; null for no reason given. */
  readonly reason: CreditNoteReason | null
  /** Stands on it; null for nothing. */
  readonly memo: string | null
  /** The caller's or the operation's: the same key writes one. */
  readonly key: string
}

/** What notes can still take back, in the currency's smallest unit. */
export interface CreditLeft {
  /** Of the invoice: what neither notes nor refunds gave back. */
  readonly ofInvoice: number
  /** Of the refund: what no note explains yet. */
  readonly ofRefund: number
}

/** Documents that take an invoice back, or a part of it. */
export interface CreditNotes {
  /** Newest first: all of them, or so many. */
  list(customerId: string, limit: number | null): Promise<CreditNoteData[]>
  /** Those of one invoice, newest first. */
  listByInvoice(invoice: string): Promise<CreditNoteData[]>
  /** Null when there is none, or it is somebody else's. */
  find(id: string, customerId: string): Promise<CreditNoteData | null>
  /** The one that was written under this key. */
  findByKey(invoice: string, key: string): Promise<CreditNoteData | null>
  /** With a refund that is to be explained, or without one. */
  left(invoice: string, refund: string | null): Promise<CreditLeft>
  /** A repeat with the same key gives the same one. */
  create(note: NewCreditNote): Promise<CreditNoteData>
}
