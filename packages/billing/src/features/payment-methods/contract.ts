import type { CardExpiry } from '../../core/values/card.ts'
import type { ProviderCustomer } from '../../providers/customer.ts'

/** Kind of a payment method, independent of the provider. */
export type PaymentMethodKind = 'card' | 'paypal' | 'bank_debit' | 'wallet' | 'other'

/** A payment method, in the same form for every provider. */
export interface ProviderMethod {
  /** The provider's id of the payment method. */
  readonly id: string
  /** Kind of the payment method. */
  readonly kind: PaymentMethodKind
  /** The brand, such as `visa`. `null` if it has none. */
  readonly brand: string | null
  /** Last four digits of the card or account. `null` for other kinds. */
  readonly lastFour: string | null
  /** E-mail address of the PayPal account. `null` for other kinds. */
  readonly email: string | null
  /** Name of the bank, for a bank debit. `null` for other kinds. */
  readonly bank: string | null
  /** Last month in which it can be charged. `null` if it does not expire. */
  readonly expires: CardExpiry | null
  /**
   * Text that is equal for equal card numbers, if the provider has one. The number cannot be
   * derived from it.
   */
  readonly fingerprint?: string | null
  /** Whether it is the default payment method. */
  readonly isDefault: boolean
  /** The provider's own object. */
  readonly raw: unknown
}

/** Payment methods of customers. */
export interface PaymentMethods {
  /** Lists the payment methods, newest first. */
  list(customerId: string): Promise<ProviderMethod[]>
  /** Whether a subscription that has not ended is billed to this payment method. */
  isInUse(customerId: string, id: string): Promise<boolean>
  /**
   * Stores the payment method of a token. A repeated call finds it, although the token is used up.
   */
  add(customerId: string, token: string): Promise<ProviderMethod>
  /**
   * Makes a stored payment method the default, also for running subscriptions.
   * @throws PaymentMethodNotFound if it belongs to another customer.
   */
  setDefault(customerId: string, id: string): Promise<ProviderCustomer>
  /**
   * Deletes a payment method. Does nothing if it is gone already, or belongs to another customer.
   */
  remove(customerId: string, id: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Payment methods of customers. */
    readonly paymentMethods: PaymentMethods
  }

  interface ReadingMethods {
    readonly paymentMethods: 'list' | 'isInUse'
  }
}
