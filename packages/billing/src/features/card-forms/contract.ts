import type { PendingConfirmation } from '../../core/values/confirmation.ts'
import type { ProviderPayment } from '../payments/contract.ts'

/** A card to store without a payment. */
export interface NewSetup {
  /** The provider's id of the customer. */
  readonly customerId: string
  /** Whether the customer is present when the card is charged later. */
  readonly usage: 'off_session' | 'on_session'
  /** The id of the operation. A repeat returns the same setup. */
  readonly operation: string
}

/** A card that the provider's script in the browser stores, with its status. */
export interface ProviderSetup {
  /** The provider's id of the setup. */
  readonly id: string
  /**
   * `succeeded`: the card is stored. `processing`: the provider is working on it. `needs_action`:
   * the customer has to confirm. `needs_method`: it waits for a card, or for another one.
   * `cancelled`: it can no longer be used.
   */
  readonly status: ProviderPayment['status']
  /** Data for the script in the browser while the customer has to act, otherwise `null`. */
  readonly confirmation: PendingConfirmation | null
  /** The id of the payment method stored by this setup. `null` until it has succeeded. */
  readonly paymentMethod: string | null
}

/** Setups: cards stored without a payment by the provider's script in the browser. */
export interface CardSetups {
  /** Creates a setup, and returns the data for the script in the browser. */
  create(setup: NewSetup): Promise<PendingConfirmation>
  /** Finds a setup. `null` if there is none, or it belongs to another customer. */
  find(id: string, customerId: string): Promise<ProviderSetup | null>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Cards stored without a payment. */
    readonly setups: CardSetups
  }

  interface ReadingMethods {
    readonly setups: 'find'
  }
}

/** A client token to create. */
export interface NewClientToken {
  /** The provider's id of the customer. `null` for a user without a customer yet. */
  readonly customerId: string | null
  /** Whether the card becomes the default payment method. */
  readonly makeDefault: boolean
  /** Whether the card is verified before it is stored. */
  readonly verifyCard: boolean
}

/** Tokens that open the provider's form in the browser. */
export interface ClientTokens {
  /** Creates a token. Each call returns a new one. */
  create(token: NewClientToken): Promise<string>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Tokens that open the provider's form in the browser. */
    readonly clientTokens: ClientTokens
  }
}
