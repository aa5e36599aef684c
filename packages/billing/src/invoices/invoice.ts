import type { ProviderName } from '../provider-name.ts'
import { formatMoney, type Money, money } from '../values/money.ts'

export interface InvoiceLine {
  readonly description: string
  readonly amount: number
  readonly quantity: number | null
  /** The days it is for. */
  readonly period: { readonly start: Date; readonly end: Date } | null
}

export interface InvoiceDiscount {
  /** The coupon's name or id, where the provider still tells. */
  readonly name: string | null
  readonly percentOff: number | null
  readonly amount: number
}

/** A provider's invoice in our words. Amounts are in the currency's smallest unit. */
export interface InvoiceData {
  readonly id: string
  readonly provider: ProviderName
  /** The number printed on it; the id where the provider has none. */
  readonly number: string
  readonly date: Date
  /** It is settled; otherwise money is still on its way. */
  readonly paid: boolean
  readonly currency: string
  readonly customer: { readonly name: string | null; readonly email: string | null }
  readonly lines: readonly InvoiceLine[]
  readonly subtotal: number
  /** Positive amounts that were taken off. */
  readonly discounts: readonly InvoiceDiscount[]
  readonly taxes: readonly {
    readonly percentage: string | null
    readonly amount: number
    readonly inclusive: boolean
  }[]
  readonly total: number
  /** Negative is a credit from before that this invoice used. */
  readonly startingBalance: number
  readonly amountDue: number
  /** The SDK's own object. */
  readonly raw: unknown
}

/** An invoice of the user, with amounts as people read them. */
export class Invoice {
  readonly id: string
  readonly data: InvoiceData
  readonly #locale: string
  readonly #pay: () => Promise<Invoice>

  constructor(data: InvoiceData, locale = 'en-US', pay = unpayable) {
    this.id = data.id
    this.data = data
    this.#locale = locale
    this.#pay = pay
  }

  /**
   * Tries to pay it now with the customer's card, and gives it as it is then. One that is paid already is
   * given back, so that it can be repeated. Throws PaymentFailed or PaymentActionRequired.
   */
  pay(): Promise<Invoice> {
    return this.#pay()
  }

  get number(): string {
    return this.data.number
  }

  get lines(): readonly InvoiceLine[] {
    return this.data.lines
  }

  get paid(): boolean {
    return this.data.paid
  }

  get raw(): unknown {
    return this.data.raw
  }

  date(): Date {
    return this.data.date
  }

  /** Formatted: `€19.99`. */
  total(): string {
    return this.#format(this.data.total)
  }

  subtotal(): string {
    return this.#format(this.data.subtotal)
  }

  tax(): string {
    return this.#format(this.data.taxes.reduce((sum, { amount }) => sum + amount, 0))
  }

  rawTotal(): Money {
    return money(this.data.total, this.data.currency)
  }

  #format(amount: number): string {
    return formatMoney(money(amount, this.data.currency), this.#locale)
  }
}

async function unpayable(): Promise<Invoice> {
  throw new Error('Only an invoice that was read from its user can be paid')
}
