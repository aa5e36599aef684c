import type { Money } from '../../core/values/money.ts'
import type { CreditedLine, CreditNoteData, CreditNoteReason, CreditNoteTo } from './credit-note.ts'

/** A credit note to issue. */
export interface NewCreditNote {
  /** The provider's id of the customer who was invoiced. */
  readonly customerId: string
  /** The provider's id of the invoice. */
  readonly invoice: string
  /**
   * The amount to credit, or the invoice lines. `null` for everything that can still be credited.
   */
  readonly of: Money | readonly CreditedLine[] | null
  /**
   * Destination of the returned money: the card, the customer's balance, or outside the provider.
   */
  readonly to: CreditNoteTo
  /**
   * The provider's id of an earlier refund that this credit note documents. Without an amount or
   * lines, the credit note covers exactly that refund.
   */
  readonly refund?: string | null
  /** The reason. `null` if there is no reason. */
  readonly reason: CreditNoteReason | null
  /** Text printed on the note. `null` if there is no memo. */
  readonly memo: string | null
  /**
   * Idempotency key of the credit note: the caller's key or, if there is none, the id of our stored
   * operation.
   */
  readonly key: string
}

/** Amounts that further credit notes can still cover, in the currency's smallest unit. */
export interface RemainingCredit {
  /** The part of the invoice that was returned neither by credit notes nor by refunds. */
  readonly ofInvoice: number
  /** The part of the refund that is not documented by a credit note yet. */
  readonly ofRefund: number
}

/** Gateway interface for credit notes: documents that reverse an invoice, in full or in part. */
export interface CreditNotes {
  /** Lists the customer's credit notes, newest first. `limit` of `null` returns all of them. */
  list(customerId: string, limit: number | null): Promise<CreditNoteData[]>
  /** Lists the credit notes of one invoice, newest first. */
  listByInvoice(invoice: string): Promise<CreditNoteData[]>
  /** Finds a credit note. `null` if there is none, or it belongs to another customer. */
  find(id: string, customerId: string): Promise<CreditNoteData | null>
  /** Finds the credit note issued with this idempotency key. `null` if there is none. */
  findByKey(invoice: string, key: string): Promise<CreditNoteData | null>
  /**
   * Returns how much of an invoice further credit notes can still cover, and how much of the given
   * refund they can still document.
   */
  left(invoice: string, refund: string | null): Promise<RemainingCredit>
  /** Issues a credit note. A repeated call with the same key returns the same credit note. */
  create(note: NewCreditNote): Promise<CreditNoteData>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to credit notes, which reverse an invoice in full or in part. */
    readonly creditNotes: CreditNotes
  }

  interface ReadOnlyMethods {
    readonly creditNotes: 'list' | 'listByInvoice' | 'find' | 'findByKey'
  }
}
