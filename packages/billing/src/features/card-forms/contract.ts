import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import type { ProviderPayment } from '../payments/contract.ts'

/** Request to store a card without a payment (a setup intent at Stripe). */
export interface NewCardSetup {
  /** The provider's id of the customer. */
  readonly customerId: string
  /**
   * Whether the customer is present when the card is charged later: `on_session` if so, otherwise
   * `off_session`.
   */
  readonly usage: 'off_session' | 'on_session'
  /**
   * Id of our stored operation, which serves as idempotency key: a repeated call returns the same
   * setup.
   */
  readonly operation: string
}

/**
 * State of storing a card without a payment (a setup intent at Stripe), which the provider's
 * browser script carries out.
 */
export interface ProviderCardSetup {
  /** The provider's id of the card setup. */
  readonly id: string
  /**
   * Status of the card setup. `succeeded`: the card is stored. `processing`: the provider is
   * working on it. `needs_action`: the customer has to authenticate. `needs_method`: the customer
   * has to enter a card, or another card after a decline. `cancelled`: the setup can no longer be
   * used.
   */
  readonly status: ProviderPayment['status']
  /** Data that the browser script needs while the customer has to act. Otherwise `null`. */
  readonly confirmation: PendingConfirmation | null
  /** The id of the payment method stored by this setup. `null` until the setup has succeeded. */
  readonly paymentMethod: string | null
}

/**
 * Gateway interface for card setups: the provider's browser script stores a card without a payment.
 */
export interface CardSetups {
  /** Creates a card setup, and returns the data that the browser script needs. */
  create(setup: NewCardSetup): Promise<PendingConfirmation>
  /** Finds a card setup. `null` if there is none, or it belongs to another customer. */
  find(id: string, customerId: string): Promise<ProviderCardSetup | null>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for card setups, which store a card without a payment. */
    readonly setups: CardSetups
  }

  interface ReadOnlyMethods {
    readonly setups: 'find'
  }
}

/** Request for a client token, which authorizes Braintree's form in the browser. */
export interface NewClientToken {
  /** The provider's id of the customer. `null` for a user without a customer yet. */
  readonly customerId: string | null
  /** Whether the card becomes the default payment method. */
  readonly makeDefault: boolean
  /** Whether the card is verified before it is stored. */
  readonly verifyCard: boolean
}

/** Gateway interface for client tokens, which authorize the provider's form in the browser. */
export interface ClientTokens {
  /** Creates a client token. Each call returns a new one. */
  create(token: NewClientToken): Promise<string>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface for client tokens, which authorize the provider's form in the browser. */
    readonly clientTokens: ClientTokens
  }
}
