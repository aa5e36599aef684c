import type { ProviderName } from '../provider-name.ts'
import { type Amount, formatMoney, type Money, money } from '../values/money.ts'
import type { InvoiceCustomer, InvoiceDiscount, InvoiceLine, InvoiceTax } from './invoice-parts.ts'

/** Where the money of a credit note goes: to the card, to the customer's balance, or past the provider. */
export type CreditNoteTo = 'refund' | 'balance' | 'outside'

/** Why an invoice is taken back. */
export type CreditNoteReason =
  | 'duplicate'
  | 'fraudulent'
  | 'order_change'
  | 'product_unsatisfactory'

/** A line of an invoice that is taken back, or some of it. */
export interface CreditedLine {
  /** The `id` of a line of the invoice. */
  readonly line: string
  /** How many of it. Default: all. */
  readonly quantity?: number
}

/** How an invoice is taken back. */
export interface CreditNoteOptions {
  /**
   * Where the money goes. It does not matter for what is not paid yet. What credit had paid goes to the balance again, also with
   * `refund`: no card has paid it.
   */
  readonly to: CreditNoteTo
  /** So much of the invoice, with taxes. Default: all that is left, line by line. */
  readonly amount?: Amount
  /** Instead of an amount: lines of the invoice, with their discounts and taxes. */
  readonly lines?: readonly CreditedLine[]
  /**
   * The `id` of a refund of the invoice that was made before: the note explains it, and nothing goes back twice. Default amount: what of
   * it no note explains. Where the note is of more, the rest goes as `to` says.
   */
  readonly refund?: string
  /** Why. */
  readonly reason?: CreditNoteReason
  /** Stands on it. */
  readonly memo?: string
  /** The same key writes one, however often it is sent. */
  readonly idempotencyKey?: string
}

/** A provider's credit note in our words. Amounts are in the currency's smallest unit. */
export interface CreditNoteData {
  /** The provider's id. */
  readonly id: string
  /** Who wrote it. */
  readonly provider: ProviderName
  /** The number printed on it. */
  readonly number: string
  /** The provider's id of the invoice. */
  readonly invoice: string
  /** The number printed on that. */
  readonly invoiceNumber: string
  /** When it was written. */
  readonly date: Date
  /** Three letters, in lower case. */
  readonly currency: string
  /** To whom. */
  readonly customer: InvoiceCustomer
  /** What is taken back. */
  readonly lines: readonly InvoiceLine[]
  /** Which lines of the invoice, where it is of lines. */
  readonly creditedLines?: readonly CreditedLine[]
  /** Before discounts and taxes. */
  readonly subtotal: number
  /** Positive amounts by which less goes back. */
  readonly discounts: readonly InvoiceDiscount[]
  /** Each tax with its rate. */
  readonly taxes: readonly InvoiceTax[]
  /** The customer's tax ids, as they were when the invoice was written. */
  readonly customerTaxIds?: readonly string[]
  /** Whether the customer owes the tax to the office themselves. */
  readonly reverseCharge?: boolean
  /** All of it, with taxes. */
  readonly total: number
  /** What was given back, and how. What is missing to the total was not paid yet. */
  readonly givenBack: {
    /** To the card. */
    readonly refunded: number
    /** To the customer's balance. */
    readonly toBalance: number
    /** Past the provider. */
    readonly outside: number
  }
  /** The provider's ids of the refunds that it made or explains. */
  readonly refunds?: readonly string[]
  /** Why; null for no reason given. */
  readonly reason: CreditNoteReason | null
  /** Stands on it; null for nothing. */
  readonly memo: string | null
  /** Whether it was taken back itself. */
  readonly isVoid: boolean
  /** The provider's own object. */
  readonly raw: unknown
}

/** A document that takes an invoice back, or a part of it. */
export class CreditNote {
  /** The provider's id. */
  readonly id: string
  /** Everything the provider says of it, in our words. */
  readonly data: CreditNoteData

  constructor(data: CreditNoteData) {
    this.id = data.id
    this.data = data
  }

  /** The number printed on it. */
  get number(): string {
    return this.data.number
  }

  /** The provider's id of the invoice. */
  get invoice(): string {
    return this.data.invoice
  }

  /** What is taken back. */
  get lines(): readonly InvoiceLine[] {
    return this.data.lines
  }

  /** Whether it was taken back itself. */
  get isVoid(): boolean {
    return this.data.isVoid
  }

  /** The provider's own object. */
  get raw(): unknown {
    return this.data.raw
  }

  /** When it was written. */
  date(): Date {
    return this.data.date
  }

  /** Formatted: `€19.99`, or as people of another language write it. */
  total(locale?: string): string {
    return formatMoney(this.rawTotal(), locale)
  }

  /** All taxes together, formatted. */
  tax(locale?: string): string {
    const { taxes, currency } = this.data
    const amount = taxes.reduce((sum, tax) => sum + tax.amount, 0)
    return formatMoney(money(amount, currency), locale)
  }

  /** The total as an amount and a currency. */
  rawTotal(): Money {
    return money(this.data.total, this.data.currency)
  }
}
