import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import { formatMoney, type Money, money } from '../../core/values/money.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { InvoicePaymentMethod } from '../../providers/payment-method.ts'
import type { CreditNote, CreditNoteOptions } from '../credit-notes/credit-note.ts'
import type { Refund, RefundOptions } from '../refunds/refund.ts'
import type { InvoiceCustomer, InvoiceDiscount, InvoiceLine, InvoiceTax } from './invoice-parts.ts'

/** An invoice, in the same form for every provider. Amounts are in the currency's smallest unit. */
export interface InvoiceData {
  /** The provider's id of the invoice. */
  readonly id: string
  /** The payment provider that issued the invoice. */
  readonly provider: ProviderName
  /** The number printed on the invoice, or the id if the provider has no numbers. */
  readonly number: string
  /** When the invoice was issued. */
  readonly date: Date
  /** Whether the invoice is paid. `false` while the payment is missing or being settled. */
  readonly paid: boolean
  /** `true` if the invoice was voided, otherwise left out. */
  readonly isVoid?: true
  /** ISO 4217 currency code, in lower case. */
  readonly currency: string
  /** The customer as printed on the invoice. */
  readonly customer: InvoiceCustomer
  /** The lines of the invoice. */
  readonly lines: readonly InvoiceLine[]
  /** Sum of the lines, before discounts and taxes. */
  readonly subtotal: number
  /** Discounts of the invoice, as positive amounts. */
  readonly discounts: readonly InvoiceDiscount[]
  /** Taxes of the invoice, with their rates. */
  readonly taxes: readonly InvoiceTax[]
  /** The customer's tax ids at the time of the invoice. */
  readonly customerTaxIds?: readonly string[]
  /**
   * Whether the invoice is under reverse charge: the customer, and not the seller, owes the tax to
   * the tax authority.
   */
  readonly reverseCharge?: boolean
  /** Amount after discounts and taxes. */
  readonly total: number
  /**
   * The customer's balance before the invoice. Negative amounts are credit that the invoice used.
   */
  readonly startingBalance: number
  /**
   * Amount to pay after the customer's balance was applied: credit reduces it, debt increases it.
   */
  readonly amountDue: number
  /**
   * Due date of an invoice that was sent to the customer. Left out for an invoice that is charged
   * automatically.
   */
  readonly dueAt?: Date
  /**
   * URL of the provider's page on which the customer can view and pay the invoice. Left out if
   * there is none.
   */
  readonly paymentUrl?: string
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}

/** The amounts of an invoice as numbers with their currency. */
export interface InvoiceAmounts {
  /** Sum of the lines, before discounts and taxes. */
  readonly subtotal: Money
  /** Sum of all discounts, as a positive amount. */
  readonly discount: Money
  /** Sum of all taxes, including those contained in the prices. */
  readonly tax: Money
  /** Amount after discounts and taxes. */
  readonly total: Money
  /**
   * The customer's balance before the invoice. Negative amounts are credit that the invoice used.
   */
  readonly startingBalance: Money
  /**
   * Amount that the customer pays, or has paid, after their balance was applied: credit reduces it,
   * debt increases it.
   */
  readonly amountDue: Money
}

/** Implementation of the actions of `Invoice`, whose methods have the full documentation. */
export interface InvoiceMethods {
  /** Pays the invoice with the customer's default payment method. */
  pay(): Promise<Invoice>
  /** Records that the invoice was paid outside the provider. */
  markPaid(): Promise<Invoice>
  /** Voids the invoice before it is paid. */
  void(): Promise<Invoice>
  /** Refunds the invoice. */
  refund(options: RefundOptions): Promise<Refund>
  /** Reads how much of the invoice was refunded so far. */
  refunded(): Promise<Money>
  /** Reads the payment methods with which the invoice was paid. */
  paidWith(): Promise<readonly InvoicePaymentMethod[]>
  /** Reads the payment that the customer has to authenticate. `null` if there is none. */
  pendingConfirmation(): Promise<PendingConfirmation | null>
  /** Issues a credit note for the invoice. */
  creditNote(options: CreditNoteOptions): Promise<CreditNote>
}

/** An invoice of a user, with formatted amounts and actions. */
export class Invoice {
  /** The provider's id of the invoice. */
  readonly id: string
  /** All fields of the invoice, in the same form for every provider. */
  readonly data: InvoiceData
  readonly #locale: string
  readonly #deeds: InvoiceMethods

  constructor(
    data: InvoiceData,
    locale = 'en-US',
    deeds: InvoiceMethods = DETACHED_INVOICE_METHODS,
  ) {
    this.id = data.id
    this.data = data
    this.#locale = locale
    this.#deeds = deeds
  }

  /**
   * Tries to pay the invoice now with the customer's default payment method, and returns its new
   * state. Returns a paid invoice unchanged, so the call can be repeated.
   * @throws PaymentFailed if the payment is declined.
   * @throws PaymentActionRequired if the customer has to authenticate.
   */
  pay(): Promise<Invoice> {
    return this.#deeds.pay()
  }

  /**
   * Records that an open invoice was paid outside the provider, for example by bank transfer, and
   * returns its new state. Nothing is charged. Does nothing if it is paid already.
   * @throws Unsupported at Braintree.
   * @example
   * await (await user.findInvoice(id))?.markPaid()
   */
  markPaid(): Promise<Invoice> {
    return this.#deeds.markPaid()
  }

  /**
   * Voids the invoice, so that it can no longer be paid, and returns its new state. Returns a
   * voided invoice unchanged, so the call can be repeated. Ends the subscription if this was its
   * first invoice.
   * @throws InvoicePaid if it is paid, or a draft that the customer's credit would pay.
   * @throws Unsupported at Braintree.
   */
  void(): Promise<Invoice> {
    return this.#deeds.void()
  }

  /**
   * Refunds the money that was charged for the invoice: everything that was not refunded yet, or a
   * part of it. Works like `user.refund()`.
   * @example
   * await invoice.refund({ amount: money(500, 'eur'), idempotencyKey: `refund-${request.id}` })
   */
  refund(options: RefundOptions = {}): Promise<Refund> {
    return this.#deeds.refund(options)
  }

  /** Reads from the provider how much of the invoice was refunded so far. */
  refunded(): Promise<Money> {
    return this.#deeds.refunded()
  }

  /**
   * Reads from the provider with which payment methods the invoice was paid, as they were then.
   * Empty if it is unpaid, was paid from credit or outside the provider, or if the provider does
   * not tell. Downloads print them.
   * @example
   * const [card] = await invoice.paidWith()
   * if (card) log(`${card.brand} ${card.lastFour}`)
   */
  paidWith(): Promise<readonly InvoicePaymentMethod[]> {
    return this.#deeds.paidWith()
  }

  /**
   * Reads the payment of this invoice that the customer has to authenticate. `null` if there is
   * none.
   */
  pendingConfirmation(): Promise<PendingConfirmation | null> {
    return this.#deeds.pendingConfirmation()
  }

  /**
   * Issues a credit note, which reverses the invoice or a part of it. The option `to` decides where
   * the paid money is returned. If the invoice is unpaid, its amount due is reduced. Without an
   * idempotency key, each call with an amount or lines issues another credit note.
   * @throws AmountTooLarge if less than the amount can still be credited.
   * @throws Unsupported at Braintree.
   * @example
   * await invoice.creditNote({ to: 'refund', reason: 'product_unsatisfactory', idempotencyKey: `return-${id}` })
   */
  creditNote(options: CreditNoteOptions): Promise<CreditNote> {
    return this.#deeds.creditNote(options)
  }

  /** The number printed on the invoice. */
  get number(): string {
    return this.data.number
  }

  /** The lines of the invoice. */
  get lines(): readonly InvoiceLine[] {
    return this.data.lines
  }

  /** Whether the invoice is paid. `false` while the payment is missing or being settled. */
  get paid(): boolean {
    return this.data.paid
  }

  /** Whether the invoice was voided, so that it can no longer be paid. */
  get voided(): boolean {
    return this.data.isVoid ?? false
  }

  /**
   * Due date of an invoice that was sent to the customer. `null` for an invoice that is charged
   * automatically.
   */
  get dueAt(): Date | null {
    return this.data.dueAt ?? null
  }

  /**
   * URL of the provider's page on which the customer can view and pay the invoice. `null` if there
   * is none.
   */
  get paymentUrl(): string | null {
    return this.data.paymentUrl ?? null
  }

  /** The object as the provider's SDK returned it. */
  get raw(): unknown {
    return this.data.raw
  }

  /** When the invoice was issued. */
  date(): Date {
    return this.data.date
  }

  /**
   * The amounts of the invoice as numbers with their currency. `total()`, `subtotal()` and `tax()`
   * return them formatted.
   * @example
   * const { total, tax } = invoice.amounts
   * await book(total.amount - tax.amount, total.currency)
   */
  get amounts(): InvoiceAmounts {
    const { currency, subtotal, discounts, taxes, total, startingBalance, amountDue } = this.data
    return {
      subtotal: money(subtotal, currency),
      discount: money(sumOf(discounts), currency),
      tax: money(sumOf(taxes), currency),
      total: money(total, currency),
      startingBalance: money(startingBalance, currency),
      amountDue: money(amountDue, currency),
    }
  }

  /** The invoice total, formatted in the given locale: `€19.99`, or `19,99 €` with `de`. */
  total(locale = this.#locale): string {
    return formatMoney(this.amounts.total, locale)
  }

  /** The amount before discounts and taxes, formatted in the given locale. */
  subtotal(locale = this.#locale): string {
    return formatMoney(this.amounts.subtotal, locale)
  }

  /** The sum of all taxes, formatted in the given locale. */
  tax(locale = this.#locale): string {
    return formatMoney(this.amounts.tax, locale)
  }

  /** The invoice total as amount and currency. */
  rawTotal(): Money {
    return this.amounts.total
  }
}

function sumOf(parts: readonly { readonly amount: number }[]): number {
  return parts.reduce((sum, { amount }) => sum + amount, 0)
}

async function throwDetachedInvoice(): Promise<never> {
  throw new Error(
    'This invoice was not read from a user: use one from user.invoices() or user.findInvoice()',
  )
}

const DETACHED_INVOICE_METHODS: InvoiceMethods = {
  pay: throwDetachedInvoice,
  markPaid: throwDetachedInvoice,
  void: throwDetachedInvoice,
  refund: throwDetachedInvoice,
  refunded: throwDetachedInvoice,
  // Not an error, because an invoice of the application's own can be rendered too.
  paidWith: async () => [],
  pendingConfirmation: throwDetachedInvoice,
  creditNote: throwDetachedInvoice,
}

declare module '../../core/errors/payment-errors.ts' {
  interface PaymentFailed {
    /**
     * The invoice that was not paid. While it is open, `invoice.pay()` retries it. `null` if there
     * is no invoice.
     */
    invoice: Invoice | null
  }

  interface PaymentActionRequired {
    /**
     * The invoice that was not paid. While it is open, `invoice.pay()` retries it. `null` if there
     * is no invoice.
     */
    invoice: Invoice | null
  }
}
