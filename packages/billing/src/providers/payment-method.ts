import type { CardExpiry } from '../core/values/card.ts'

/** Kind of a payment method, independent of the provider. */
export type PaymentMethodKind = 'card' | 'paypal' | 'bank_debit' | 'wallet' | 'other'

/** A payment method, in the same form for every provider. */
export interface ProviderPaymentMethod {
  /** The provider's id of the payment method. */
  readonly id: string
  /** Kind of the payment method. */
  readonly kind: PaymentMethodKind
  /** The brand of the card, such as `visa`. `null` if the payment method has none. */
  readonly brand: string | null
  /** Last four digits of the card or account. `null` for other kinds. */
  readonly lastFour: string | null
  /** E-mail address of the PayPal account. `null` for other kinds. */
  readonly email: string | null
  /** Name of the bank, for a bank debit. `null` for other kinds. */
  readonly bank: string | null
  /** Last month in which the payment method can be charged. `null` if it does not expire. */
  readonly expires: CardExpiry | null
  /**
   * The provider's fingerprint of the card number. Equal numbers have equal fingerprints, and the
   * number cannot be derived from the fingerprint. `null` or left out if the provider has none.
   */
  readonly fingerprint?: string | null
  /** Whether it is the customer's default payment method. */
  readonly isDefault: boolean
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}

/** A payment method with which an invoice was paid. */
export type InvoicePaymentMethod = Pick<
  ProviderPaymentMethod,
  'kind' | 'brand' | 'lastFour' | 'email' | 'bank'
>
