import type { Amount, Money } from '../../core/values/money.ts'

/** The reason for a refund. */
export type RefundReason = 'duplicate' | 'fraudulent' | 'requested_by_customer'

export const REFUND_REASONS: readonly RefundReason[] = [
  'duplicate',
  'fraudulent',
  'requested_by_customer',
]

/** Options for `refund()`. */
export interface RefundOptions {
  /**
   * Amount to refund. Default: all that is left after refunds, credit notes and credit for unused
   * time.
   */
  readonly amount?: Amount
  /**
   * The reason for the refund. Braintree has no field for reasons, so at Braintree it is stored in
   * the order id of the refund.
   */
  readonly reason?: RefundReason
  /** Idempotency key: calls with the same key refund once. */
  readonly idempotencyKey?: string
}

/** A refund that was made or is on its way. */
export interface Refund {
  /** The provider's id of the refund. */
  readonly id: string
  /** The provider's id of the charge. */
  readonly charge: string
  /** The refunded amount. */
  readonly amount: Money
  /** State of the refund. `voided` means that the charge was cancelled before it was settled. */
  readonly status: 'succeeded' | 'pending' | 'failed' | 'voided'
  /**
   * The reason for the refund. `null` if none was given, or if it was lost: Braintree cannot store
   * the reason of a voided charge, so a repeated call reads it from the `refund.created` event.
   */
  readonly reason: RefundReason | null
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}
