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

/** Reason for crediting an invoice. */
export type CreditNoteReason =
  | 'duplicate'
  | 'fraudulent'
  | 'order_change'
  | 'product_unsatisfactory'

/** An invoice line to credit, in full or in part. */
export interface CreditedLine {
  /** The `id` of the invoice line, as listed in `InvoiceData.lines`. */
  readonly line: string
  /** Number of units to credit. Default: all of them. */
  readonly quantity?: number
}

/** Options for `creditNote()`. */
export interface CreditNoteOptions {
  /**
   * Destination of the money that was paid for the invoice: the card (`refund`), the customer's
   * balance, or outside the provider. The part of the invoice that is not paid yet is only reduced.
   * The part that was paid from the customer's balance always returns to the balance, even with
   * `refund`, because no card was charged for it.
   */
  readonly to: CreditNoteTo
  /**
   * Amount to credit, including taxes. Default: everything that can still be credited, line by
   * line.
   */
  readonly amount?: Amount
  /** Alternative to `amount`: the invoice lines to credit, each with its discounts and taxes. */
  readonly lines?: readonly CreditedLine[]
  /**
   * The `id` of an earlier refund of the invoice. The credit note documents that refund, and no
   * money is returned twice. The default amount is then the part of the refund that is not
   * documented yet. If the credit note covers more than the refund, the rest is returned to the
   * destination `to`.
   */
  readonly refund?: string
  /** Why the invoice is credited. */
  readonly reason?: CreditNoteReason
  /** Text printed on the credit note. */
  readonly memo?: string
  /** Idempotency key: repeated calls with the same key issue one credit note. */
  readonly idempotencyKey?: string
}

/**
 * A credit note, in the same form for every provider. Amounts are in the currency's smallest unit.
 */
export interface CreditNoteData {
  /** The provider's id of the credit note. */
  readonly id: string
  /** The payment provider that issued the credit note. */
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
  /** The credited invoice lines, if the credit note was issued for lines and not for an amount. */
  readonly creditedLines?: readonly CreditedLine[]
  /** Amount before discounts and taxes. */
  readonly subtotal: number
  /** Discounts of the credited lines, as positive amounts that reduce the credit. */
  readonly discounts: readonly InvoiceDiscount[]
  /** Credited taxes with their rates. */
  readonly taxes: readonly InvoiceTax[]
  /** The customer's tax ids at the time of the invoice. */
  readonly customerTaxIds?: readonly string[]
  /**
   * Whether the invoice is under reverse charge: the customer, and not the seller, owes the tax to
   * the tax authority.
   */
  readonly reverseCharge?: boolean
  /** Total of the credit note, including taxes. */
  readonly total: number
  /**
   * The returned money by destination. The rest of the total reduces the unpaid part of the
   * invoice.
   */
  readonly givenBack: {
    /** Amount refunded to the card. */
    readonly refunded: number
    /** Amount credited to the customer's balance. */
    readonly toBalance: number
    /** Amount returned outside the provider. */
    readonly outside: number
  }
  /** The provider's ids of the refunds that were made by the credit note, or that it documents. */
  readonly refunds?: readonly string[]
  /** Why the invoice was credited. `null` if no reason was given. */
  readonly reason: CreditNoteReason | null
  /** Text printed on the credit note. `null` if there is no memo. */
  readonly memo: string | null
  /** Whether the credit note was voided. */
  readonly isVoid: boolean
  /** The object as the provider's SDK returned it. */
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

  /** The object as the provider's SDK returned it. */
  get raw(): unknown {
    return this.data.raw
  }

  /** When the credit note was issued. */
  date(): Date {
    return this.data.date
  }

  /**
   * The total of the credit note, formatted in the given locale: `€19.99`, or `19,99 €` with `de`.
   */
  total(locale?: string): string {
    return formatMoney(this.rawTotal(), locale)
  }

  /** The sum of all taxes, formatted in the given locale. */
  tax(locale?: string): string {
    const { taxes, currency } = this.data
    const amount = taxes.reduce((sum, tax) => sum + tax.amount, 0)
    return formatMoney(money(amount, currency), locale)
  }

  /** The total of the credit note as amount and currency. */
  rawTotal(): Money {
    return money(this.data.total, this.data.currency)
  }
}
