import type { InvoiceLine } from '../../../../invoices/invoice.ts'
import type { Money } from '../../../../values/money.ts'

/** Where the money of a credit note goes: to the card, to the balance, or past the provider. */
export type CreditNoteTo = 'refund' | 'balance' | 'outside'

/** A credit note to be written. */
export interface NewCreditNote {
  /** Whose invoice it is. */
  readonly customerId: string
  /** The provider's id of the invoice. */
  readonly invoice: string
  /** An amount, or lines of the invoice by the provider's ids; null for the whole invoice. */
  readonly of: Money | readonly { readonly line: string; readonly quantity: number }[] | null
  /** Where the money goes. */
  readonly to: CreditNoteTo
  /** Why. */
  readonly reason: 'duplicate' | 'fraudulent' | 'order_change' | 'product_unsatisfactory' | null
  /** Stands on it. */
  readonly memo: string | null
  /** The caller's or the operation's: the same key writes one. */
  readonly key: string
}

/** A provider's credit note in our words. */
export interface ProviderCreditNote {
  /** The provider's id. */
  readonly id: string
  /** The number printed on it. */
  readonly number: string
  /** The provider's id of the invoice. */
  readonly invoice: string
  /** When it was written. */
  readonly date: Date
  /** What is taken back. */
  readonly lines: readonly InvoiceLine[]
  /** All of it, with taxes. */
  readonly total: Money
  /** The taxes within the total. */
  readonly tax: Money
  /** Stands on it; null for nothing. */
  readonly memo: string | null
  /** Whether it was taken back itself. */
  readonly isVoid: boolean
  /** The provider's own object. */
  readonly raw: unknown
}

/** Documents that take an invoice back, or a part of it. */
export interface CreditNotes {
  /** Newest first. */
  list(customerId: string): Promise<ProviderCreditNote[]>
  /** Null when there is none, or it is somebody else's. */
  find(id: string, customerId: string): Promise<ProviderCreditNote | null>
  /** A repeat with the same key gives the same one. */
  create(note: NewCreditNote): Promise<ProviderCreditNote>
}
