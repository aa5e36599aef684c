import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import type { Money } from '../../core/values/money.ts'

/** A payment, in the same form for every provider. */
export interface ProviderPayment {
  /** The provider's id of the payment. */
  readonly id: string
  /** Amount of the payment. */
  readonly amount: Money
  /**
   * Status of the payment. `processing`: the money is on its way. `needs_action`: the customer has
   * to authenticate. `needs_method`: the payment was declined, and needs another card. `cancelled`:
   * it can no longer be paid.
   */
  readonly status: 'succeeded' | 'processing' | 'needs_action' | 'needs_method' | 'cancelled'
  /**
   * Data that the browser script needs to let the customer authenticate the payment. `null` if that
   * is not needed.
   */
  readonly confirmation: PendingConfirmation | null
  /** The provider's code for the reason of a decline. `null` if the payment was not declined. */
  readonly declineCode: string | null
  /** When the payment was started. */
  readonly createdAt: Date
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}

/** Gateway interface to the payments of subscriptions, successful or not. */
export interface CustomerPayments {
  /**
   * Finds the newest payment of a subscription, successful or not. `null` if the subscription was
   * never charged.
   */
  findLatest(subscriptionId: string): Promise<ProviderPayment | null>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to the payments of subscriptions, successful or not. */
    readonly payments: CustomerPayments
  }

  interface ReadOnlyMethods {
    readonly payments: keyof CustomerPayments
  }
}
