import type { ProviderPaymentMethod } from '../payment-methods/contract.ts'

/** A payment method with which an invoice was paid. */
export type InvoicePaymentMethod = Pick<
  ProviderPaymentMethod,
  'kind' | 'brand' | 'lastFour' | 'email' | 'bank'
>

/** A line of an invoice. */
export interface InvoiceLine {
  /** The provider's id of the line, if it has one. Credit notes refer to it. */
  readonly id?: string
  /** Text of the line. */
  readonly description: string
  /** Amount of the whole line, in the currency's smallest unit. */
  readonly amount: number
  /** Number of units, with decimals for metered usage. `null` if the provider does not say. */
  readonly quantity: number | null
  /**
   * Price per unit as a decimal string, in the currency's smallest unit. If the price has tiers,
   * the price within the tier that the line bills.
   */
  readonly unitAmount?: string
  /** Whether the line bills metered usage, which is charged after the period. */
  readonly isUsage?: true
  /** The billing period of the line. `null` if there is no period. */
  readonly period: { readonly start: Date; readonly end: Date } | null
}

/** A discount of an invoice. */
export interface InvoiceDiscount {
  /** Name or id of the coupon. `null` if the provider no longer knows it. */
  readonly name: string | null
  /** Percentage of the discount. `null` for a fixed amount. */
  readonly percentOff: number | null
  /** Amount of the discount, in the currency's smallest unit. */
  readonly amount: number
}

/** A tax of an invoice. */
export interface InvoiceTax {
  /** Tax rate in percent. `null` if the provider does not say. */
  readonly percentage: string | null
  /** Amount of the tax, in the currency's smallest unit. */
  readonly amount: number
  /** Whether the prices include the tax. Otherwise it is added to them. */
  readonly inclusive: boolean
}

/** The customer as printed on an invoice. */
export interface InvoiceCustomer {
  /** Name of the person or company. */
  readonly name: string | null
  /** The e-mail address on the invoice. */
  readonly email: string | null
  /**
   * Lines of the postal address as stored at the provider. The country is a two-letter ISO 3166
   * code.
   */
  readonly address?: readonly string[]
}
