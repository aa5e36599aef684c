import type { PendingConfirmation } from '../../../../values/confirmation.ts'
import type { ProviderPayment } from '../money/payments.ts'

/** A card to be kept, and what for. */
export interface NewSetup {
  /** Whose card it is. */
  readonly customerId: string
  /** Whether the customer will be there when it is charged. */
  readonly usage: 'off_session' | 'on_session'
  /** The operation it belongs to: a repeat gives the same setup. */
  readonly operation: string
}

/** A card that is kept, or to be kept, by the provider's script in the browser. */
export interface ProviderSetup {
  /** The provider's id. */
  readonly id: string
  /**
   * Where it stands. `succeeded`: the card is kept. `processing`: nobody has to do anything. `needs_action`: the customer has
   * to confirm it. `needs_method`: it waits for a card, the first or another one. `cancelled`: nothing comes of it any more.
   */
  readonly status: ProviderPayment['status']
  /** For the script in the browser, while it waits for the customer; else null. */
  readonly confirmation: PendingConfirmation | null
  /** The id of what was kept: of this setup, whatever else was added meanwhile. Null until it has succeeded. */
  readonly paymentMethod: string | null
}

/** Cards that the provider's script in the browser keeps, without a payment. */
export interface CardSetups {
  /** For the script in the browser. */
  create(setup: NewSetup): Promise<PendingConfirmation>
  /** Null when there is none, or it is somebody else's. */
  find(id: string, customerId: string): Promise<ProviderSetup | null>
}
