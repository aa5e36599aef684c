/** One thing that was sold. */
export interface InvoiceLine {
  /** The provider's id of the line, where it has one: a credit note names it. */
  readonly id?: string
  /** What it was. */
  readonly description: string
  /** For all of them, in the currency's smallest unit. */
  readonly amount: number
  /** How many; of what is billed by usage, with decimals. */
  readonly quantity: number | null
  /** What one costs, in the currency's smallest unit with decimals, as text; of a tier what one costs within it. */
  readonly unitAmount?: string
  /** Whether it is for what was used, and was billed afterwards. */
  readonly isUsage?: true
  /** The days it is for. */
  readonly period: { readonly start: Date; readonly end: Date } | null
}

/** What was taken off an invoice. */
export interface InvoiceDiscount {
  /** The coupon's name or id, where the provider still tells. */
  readonly name: string | null
  /** The percentage; null for an amount. */
  readonly percentOff: number | null
  /** What was taken off, in the currency's smallest unit. */
  readonly amount: number
}

/** A tax of an invoice. */
export interface InvoiceTax {
  /** The rate; null where the provider does not say. */
  readonly percentage: string | null
  /** In the currency's smallest unit. */
  readonly amount: number
  /** Within the price, or on top of it. */
  readonly inclusive: boolean
}

/** To whom an invoice was written. */
export interface InvoiceCustomer {
  /** A person or a company. */
  readonly name: string | null
  /** Where it was sent. */
  readonly email: string | null
  /** Lines of the address, as the provider has it; a country is two capital letters. */
  readonly address?: readonly string[]
}
