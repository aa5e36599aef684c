import type { PendingConfirmation } from '../../../../values/confirmation.ts'
import type { Money } from '../../../../values/money.ts'

/** A provider's payment in our words. */
export interface ProviderPayment {
  /** The provider's id. */
  readonly id: string
  /** What is paid. */
  readonly amount: Money
  /** Where it stands. */
  readonly status: 'succeeded' | 'processing' | 'needs_action' | 'needs_method' | 'cancelled'
  /** What the customer has to confirm; null for nothing. */
  readonly confirmation: PendingConfirmation | null
  /** The provider's own object. */
  readonly raw: unknown
}

/** Payments themselves, paid or not. */
export interface Payments {
  /** The newest one of a subscription; null when it was never charged. */
  findLatest(subscriptionId: string): Promise<ProviderPayment | null>
  /** Those of a customer that wait for them to confirm. */
  listPending(customerId: string): Promise<PendingConfirmation[]>
}
