import type { PendingConfirmation } from '../../../../values/confirmation.ts'

/** A card to be kept, and what for. */
export interface NewSetup {
  /** Whose card it is. */
  readonly customerId: string
  /** Whether the customer will be there when it is charged. */
  readonly usage: 'off_session' | 'on_session'
  /** The operation it belongs to: a repeat gives the same setup. */
  readonly operation: string
}

/** Cards that the provider's script in the browser keeps, without a payment. */
export interface CardSetups {
  /** For the script in the browser. */
  create(setup: NewSetup): Promise<PendingConfirmation>
  /** Null when there is none, it is done, or it is somebody else's. */
  find(id: string, customerId: string): Promise<PendingConfirmation | null>
}
