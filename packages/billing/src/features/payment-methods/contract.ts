import type { CardExpiry } from '../../core/values/card.ts'
import type { ProviderCustomer } from '../../providers/customer.ts'

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

/** Gateway interface to the payment methods of customers. */
export interface PaymentMethods {
  /** Lists the customer's payment methods, newest first. */
  list(customerId: string): Promise<ProviderPaymentMethod[]>
  /** Whether a subscription that has not ended is billed to this payment method. */
  isInUse(customerId: string, id: string): Promise<boolean>
  /**
   * Stores the payment method behind a token from the provider's browser script. A repeated call
   * returns the stored payment method, although the token can be used only once.
   */
  add(customerId: string, token: string): Promise<ProviderPaymentMethod>
  /**
   * Makes a stored payment method the customer's default, and bills running subscriptions to it.
   * @throws PaymentMethodNotFound if it belongs to another customer.
   */
  setDefault(customerId: string, id: string): Promise<ProviderCustomer>
  /**
   * Deletes a payment method. Does nothing if it does not exist, or belongs to another customer.
   */
  remove(customerId: string, id: string): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to the payment methods of customers. */
    readonly paymentMethods: PaymentMethods
  }

  interface ReadOnlyMethods {
    readonly paymentMethods: 'list' | 'isInUse'
  }
}
