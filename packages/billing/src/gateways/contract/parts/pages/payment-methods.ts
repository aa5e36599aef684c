import type { CardExpiry } from '../../../../values/card.ts'
import type { ProviderCustomer } from '../../customer.ts'

/** What a payment method is, for people. */
export type PaymentMethodKind = 'card' | 'paypal' | 'bank_debit' | 'wallet' | 'other'

/** A provider's payment method in our words. */
export interface ProviderMethod {
  /** The provider's id. */
  readonly id: string
  /** What it is. */
  readonly kind: PaymentMethodKind
  /** Such as `visa`; null for what has none. */
  readonly brand: string | null
  /** Of the card or the account. */
  readonly lastFour: string | null
  /** Of the PayPal account. */
  readonly email: string | null
  /** The bank's name, of a debit. */
  readonly bank: string | null
  /** The last month in which it works; null for what does not end. */
  readonly expires: CardExpiry | null
  /** Text that is the same for the same number, where the provider has one; it opens nothing. */
  readonly fingerprint?: string | null
  /** Whether it is the one that is billed. */
  readonly isDefault: boolean
  /** The provider's own object. */
  readonly raw: unknown
}

/** All that a customer can pay with. */
export interface PaymentMethods {
  /** Newest first. */
  list(customerId: string): Promise<ProviderMethod[]>
  /** Whether a subscription that is not over is billed by it. */
  isInUse(customerId: string, id: string): Promise<boolean>
  /** Keeps what a token stands for. A repeat finds it, though the token is spent. */
  add(customerId: string, token: string): Promise<ProviderMethod>
  /**
   * Makes it the one that is billed, for running subscriptions as well. Throws PaymentMethodNotFound for one that is
   * not this customer's.
   */
  setDefault(customerId: string, id: string): Promise<ProviderCustomer>
  /** Nothing happens when it is gone already, or somebody else's. */
  remove(customerId: string, id: string): Promise<void>
}
