import type { ProviderCustomer } from '../../providers/customer.ts'
import type { ProviderPaymentMethod } from '../../providers/payment-method.ts'

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
   * @throws PaymentMethodNotFound if the payment method belongs to another customer.
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
