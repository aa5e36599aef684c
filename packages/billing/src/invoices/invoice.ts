import type { ProviderName } from '../provider-name.ts'
import type { PendingConfirmation } from '../values/confirmation.ts'
import { formatMoney, type Money, money } from '../values/money.ts'
import type { CreditNote, CreditNoteOptions } from './credit-note.ts'
import type { InvoiceCustomer, InvoiceDiscount, InvoiceLine, InvoiceTax } from './invoice-parts.ts'
import type { Refund, RefundOptions } from './refund.ts'

/** A provider's invoice in our words. Amounts are in the currency's smallest unit. */
export interface InvoiceData {
  /** The provider's id. */
  readonly id: string
  /** Who wrote it. */
  readonly provider: ProviderName
  /** The number printed on it; the id where the provider has none. */
  readonly number: string
  /** When it was written. */
  readonly date: Date
  /** It is settled; otherwise money is still on its way. */
  readonly paid: boolean
  /** Nobody can pay it any more. */
  readonly isVoid?: true
  /** Three letters, in lower case. */
  readonly currency: string
  /** To whom it was written. */
  readonly customer: InvoiceCustomer
  /** What was sold. */
  readonly lines: readonly InvoiceLine[]
  /** Before discounts and taxes. */
  readonly subtotal: number
  /** Positive amounts that were taken off. */
  readonly discounts: readonly InvoiceDiscount[]
  /** Each tax with its rate. */
  readonly taxes: readonly InvoiceTax[]
  /** The customer's tax ids, as they were when it was written. */
  readonly customerTaxIds?: readonly string[]
  /** Whether the customer owes the tax to the office themselves. */
  readonly reverseCharge?: boolean
  /** After discounts and taxes. */
  readonly total: number
  /** Negative is a credit from before that this invoice used. */
  readonly startingBalance: number
  /** What is left to pay. */
  readonly amountDue: number
  /** The SDK's own object. */
  readonly raw: unknown
}

/** What can be done with an invoice that was read from its user. */
export interface InvoiceDeeds {
  /** Pays it. */
  pay(): Promise<Invoice>
  /** Takes it back before it is paid. */
  void(): Promise<Invoice>
  /** Gives its money back. */
  refund(options: RefundOptions): Promise<Refund>
  /** Asks what was given back. */
  refunded(): Promise<Money>
  /** Asks what the customer has to confirm. */
  pendingConfirmation(): Promise<PendingConfirmation | null>
  /** Writes a credit note. */
  creditNote(options: CreditNoteOptions): Promise<CreditNote>
}

/** An invoice of the user, with amounts as people read them. */
export class Invoice {
  /** The provider's id. */
  readonly id: string
  /** Everything the provider says of it, in our words. */
  readonly data: InvoiceData
  readonly #locale: string
  readonly #deeds: InvoiceDeeds

  constructor(data: InvoiceData, locale = 'en-US', deeds: InvoiceDeeds = NONE) {
    this.id = data.id
    this.data = data
    this.#locale = locale
    this.#deeds = deeds
  }

  /**
   * Tries to pay it now with the customer's card, and gives it as it is then. One that is paid already is
   * given back, so it can be repeated. Throws PaymentFailed or PaymentActionRequired.
   */
  pay(): Promise<Invoice> {
    return this.#deeds.pay()
  }

  /**
   * Nobody can pay it any more; gives it as it is then. One that is void already is given back, so it can be repeated.
   * Throws InvoicePaid for one that is paid, and for a draft that the customer's credit pays. A subscription whose first
   * invoice it was is over. Unsupported at Braintree.
   */
  void(): Promise<Invoice> {
    return this.#deeds.void()
  }

  /**
   * Gives back what was charged for it: all that is left, or a part. Like `user.refund()`.
   * @example
   * await invoice.refund({ amount: money(500, 'eur'), idempotencyKey: `refund-${request.id}` })
   */
  refund(options: RefundOptions = {}): Promise<Refund> {
    return this.#deeds.refund(options)
  }

  /** What was given back of it so far, as the provider says now. */
  refunded(): Promise<Money> {
    return this.#deeds.refunded()
  }

  /** What the customer is asked to confirm before it is paid; null for nothing. */
  pendingConfirmation(): Promise<PendingConfirmation | null> {
    return this.#deeds.pendingConfirmation()
  }

  /**
   * Takes the invoice back, or a part of it, by a document of its own; `to` says where the money goes. Of an invoice that
   * is not paid, less is owed then. Without a key each call for a part writes another one. Unsupported at Braintree.
   * @example
   * await invoice.creditNote({ to: 'refund', reason: 'product_unsatisfactory', idempotencyKey: `return-${id}` })
   */
  creditNote(options: CreditNoteOptions): Promise<CreditNote> {
    return this.#deeds.creditNote(options)
  }

  /** The number printed on it. */
  get number(): string {
    return this.data.number
  }

  /** What was sold. */
  get lines(): readonly InvoiceLine[] {
    return this.data.lines
  }

  /** Whether the money has arrived. */
  get paid(): boolean {
    return this.data.paid
  }

  /** Whether nobody can pay it any more. */
  get voided(): boolean {
    return this.data.isVoid ?? false
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
    return this.#format(this.data.total, locale)
  }

  /** Before discounts and taxes, formatted. */
  subtotal(locale?: string): string {
    return this.#format(this.data.subtotal, locale)
  }

  /** All taxes together, formatted. */
  tax(locale?: string): string {
    return this.#format(
      this.data.taxes.reduce((sum, { amount }) => sum + amount, 0),
      locale,
    )
  }

  /** The total as an amount and a currency. */
  rawTotal(): Money {
    return money(this.data.total, this.data.currency)
  }

  #format(amount: number, locale = this.#locale): string {
    return formatMoney(money(amount, this.data.currency), locale)
  }
}

async function unread(): Promise<never> {
  throw new Error('Nothing can be done with an invoice that was not read from its user')
}

const NONE: InvoiceDeeds = {
  pay: unread,
  void: unread,
  refund: unread,
  refunded: unread,
  pendingConfirmation: unread,
  creditNote: unread,
}
