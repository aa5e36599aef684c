import type { Money } from '../../core/values/money.ts'
import type { CreditedLine, CreditNoteData, CreditNoteReason, CreditNoteTo } from './credit-note.ts'

/** A credit note to issue. */
export interface NewCreditNote {
  /** The provider's id of the customer who was invoiced. */
  readonly customerId: string
  /** The provider's id of the invoice. */
  readonly invoice: string
  /**
   * The amount or the invoice lines to credit. `null` for everything that can still be credited.
   */
  readonly of: Money | readonly CreditedLine[] | null
  /** Destination of the money. */
  readonly to: CreditNoteTo
  /**
   * The provider's id of an earlier refund that this note documents. Without an amount or lines,
   * the note covers that refund.
   */
  readonly refund?: string | null
  /** The reason. `null` for none. */
  readonly reason: CreditNoteReason | null
  /** Text printed on the note. `null` for none. */
  readonly memo: string | null
  /** The caller's idempotency key or, if there is none, the id of our stored operation. */
  readonly key: string
}

/** Amounts that credit notes can still cover, in the currency's smallest unit. */
export interface CreditLeft {
  /** The part of the invoice that neither credit notes nor refunds have returned. */
  readonly ofInvoice: number
  /** The part of the refund that no credit note documents yet. */
  readonly ofRefund: number
}

/** Credit notes: documents that reverse an invoice, in full or in part. */
export interface CreditNotes {
  /** Lists credit notes, newest first. `limit` of `null` returns all of them. */
  list(customerId: string, limit: number | null): Promise<CreditNoteData[]>
  /** Lists the credit notes of one invoice, newest first. */
  listByInvoice(invoice: string): Promise<CreditNoteData[]>
  /** Finds a credit note. `null` if there is none, or it belongs to another customer. */
  find(id: string, customerId: string): Promise<CreditNoteData | null>
  /** Finds the credit note issued with this idempotency key. `null` if there is none. */
  findByKey(invoice: string, key: string): Promise<CreditNoteData | null>
  /**
   * Returns how much credit notes can still cover of an invoice, and of a refund where one is
   * given.
   */
  left(invoice: string, refund: string | null): Promise<CreditLeft>
  /** Issues a credit note. A repeat with the same key returns the first one. */
  create(note: NewCreditNote): Promise<CreditNoteData>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Documents that reverse an invoice. */
    readonly creditNotes: CreditNotes
  }

  interface ReadingMethods {
    readonly creditNotes: 'list' | 'listByInvoice' | 'find' | 'findByKey'
  }
}
