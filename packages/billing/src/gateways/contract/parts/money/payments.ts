import type { PendingConfirmation } from '../../../../values/confirmation.ts'
import type { Money } from '../../../../values/money.ts'

/** A provider's payment in our words. */
export interface ProviderPayment {
  /** The provider's id. */
  readonly id: string
  /** What is paid. */
  readonly amount: Money
  /**
   * Where it stands. `processing`: nobody has to do anything, the money is on its way. `needs_action`: the customer has to
   * confirm it. `needs_method`: it was declined, and another card has to be tried. `cancelled`: nobody waits for it any more.
   */
  readonly status: 'succeeded' | 'processing' | 'needs_action' | 'needs_method' | 'cancelled'
  /** What the customer has to confirm; null for nothing. */
  readonly confirmation: PendingConfirmation | null
  /** Why it was declined, in the provider's words; null where it was not. */
  readonly declineCode: string | null
  /** When it began. */
  readonly createdAt: Date
  /** The provider's own object. */
  readonly raw: unknown
}

/** Payments themselves, paid or not. */
export interface Payments {
  /** The newest one of a subscription; null when it was never charged. */
  findLatest(subscriptionId: string): Promise<ProviderPayment | null>
}
