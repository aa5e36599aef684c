import { type Amount, formatMoney, type Money, money } from '../../core/values/money.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type {
  InvoiceCustomer,
  InvoiceDiscount,
  InvoiceLine,
  InvoiceTax,
} from '../invoices/invoice-parts.ts'

/**
 * Destination of a credit note's money: back to the card, to the customer's balance, or outside
 * the provider, for example in cash.
 */
export type CreditNoteTo = 'refund' | 'balance' | 'outside'

/** Why an invoice is credited. */
export type CreditNoteReason =
  | 'duplicate'
  | 'fraudulent'
  | 'order_change'
  | 'product_unsatisfactory'

/** An invoice line to credit, in full or in part. */
export interface CreditedLine {
  /** The `id` of the invoice line. */
  readonly line: string
  /** Number of units to credit. Default: all of them. */
  readonly quantity?: number
}

/** Options for `creditNote()`. */
export interface CreditNoteOptions {
  /**
   * Destination of the paid money. Has no effect on the part that is not paid yet. The part that was
   * paid with credit always returns to the balance, also with `refund`, because no card has paid
   * it.
   */
  readonly to: CreditNoteTo
  /**
   * Amount to credit, including taxes. Default: everything that is left of the invoice, line by
   * line.
   */
  readonly amount?: Amount
  /** Alternative to `amount`: invoice lines to credit, with their discounts and taxes. */
  readonly lines?: readonly CreditedLine[]
  /**
   * The `id` of an earlier refund of the invoice. The note documents that refund, and no money is
   * returned twice. The default amount is then the undocumented part of the refund. If the note
   * covers more, the rest goes where `to` says.
   */
  readonly refund?: string
  /** Why the invoice is credited. */
  readonly reason?: CreditNoteReason
  /** Text printed on the credit note. */
  readonly memo?: string
  /** Identifies the credit note, so that repeated calls with the same key issue it once. */
  readonly idempotencyKey?: string
}

/**
 * A credit note, in the same form for every provider. Amounts are in the currency's smallest unit.
 */
export interface CreditNoteData {
  /** The provider's id of the credit note. */
  readonly id: string
  /** The provider that issued it. */
  readonly provider: ProviderName
  /** The number printed on the credit note. */
  readonly number: string
  /** The provider's id of the invoice. */
  readonly invoice: string
  /** The number printed on the invoice. */
  readonly invoiceNumber: string
  /** When the credit note was issued. */
  readonly date: Date
  /** ISO 4217 currency code, in lower case. */
  readonly currency: string
  /** The customer as printed on the credit note. */
  readonly customer: InvoiceCustomer
  /** The credited lines, as printed. */
  readonly lines: readonly InvoiceLine[]
  /** The credited invoice lines, if the note covers lines. */
  readonly creditedLines?: readonly CreditedLine[]
  /** Amount before discounts and taxes. */
  readonly subtotal: number
  /** Discounts of the credited lines, as positive amounts that reduce the credit. */
  readonly discounts: readonly InvoiceDiscount[]
  /** Taxes with their rates. */
  readonly taxes: readonly InvoiceTax[]
  /** The customer's tax ids at the time of the invoice. */
  readonly customerTaxIds?: readonly string[]
  /** Whether the customer owes the tax to the tax authority (reverse charge). */
  readonly reverseCharge?: boolean
  /** Total including taxes. */
  readonly total: number
  /** The returned money by destination. The rest of the total was not paid yet. */
  readonly givenBack: {
    /** Amount refunded to the card. */
    readonly refunded: number
    /** Amount credited to the customer's balance. */
    readonly toBalance: number
    /** Amount returned outside the provider. */
    readonly outside: number
  }
  /** The provider's ids of the refunds that the note made or documents. */
  readonly refunds?: readonly string[]
  /** Why the invoice was credited. `null` if no reason was given. */
  readonly reason: CreditNoteReason | null
  /** Text printed on the credit note. `null` for none. */
  readonly memo: string | null
  /** Whether the credit note was voided. */
  readonly isVoid: boolean
  /** The provider's own object. */
  readonly raw: unknown
}

/** A credit note: a document that reverses an invoice, in full or in part. */
export class CreditNote {
  /** The provider's id of the credit note. */
  readonly id: string
  /** All fields of the credit note, in the same form for every provider. */
  readonly data: CreditNoteData

  constructor(data: CreditNoteData) {
    this.id = data.id
    this.data = data
  }

  /** The number printed on the credit note. */
  get number(): string {
    return this.data.number
  }

  /** The provider's id of the invoice. */
  get invoice(): string {
    return this.data.invoice
  }

  /** The credited lines, as printed. */
  get lines(): readonly InvoiceLine[] {
    return this.data.lines
  }

  /** Whether the credit note was voided. */
  get isVoid(): boolean {
    return this.data.isVoid
  }

  /** The provider's own object. */
  get raw(): unknown {
    return this.data.raw
  }

  /** When the credit note was issued. */
  date(): Date {
    return this.data.date
  }

  /** The total, formatted in the given locale: `€19.99`, or `19,99 €` with `de`. */
  total(locale?: string): string {
    return formatMoney(this.rawTotal(), locale)
  }

  /** The sum of all taxes, formatted in the given locale. */
  tax(locale?: string): string {
    const { taxes, currency } = this.data
    const amount = taxes.reduce((sum, tax) => sum + tax.amount, 0)
    return formatMoney(money(amount, currency), locale)
  }

  /** The total as amount and currency. */
  rawTotal(): Money {
    return money(this.data.total, this.data.currency)
  }
}
