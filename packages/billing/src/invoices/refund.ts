import type { Amount, Money } from '../values/money.ts'

/** Why money goes back. */
export type RefundReason = 'duplicate' | 'fraudulent' | 'requested_by_customer'

export const REFUND_REASONS: readonly RefundReason[] = [
  'duplicate',
  'fraudulent',
  'requested_by_customer',
]

/** How money goes back. */
export interface RefundOptions {
  /** Amount to refund. Default: all that is left after refunds, credit notes and credit for unused time. */
  readonly amount?: Amount
  /** Why. Braintree has no field for it: there it stands in the refund's order id. */
  readonly reason?: RefundReason
  /** The same key refunds once, however often it is sent. */
  readonly idempotencyKey?: string
}

/** Money that went back, or is on its way. */
export interface Refund {
  /** The provider's id. */
  readonly id: string
  /** The provider's id of the charge. */
  readonly charge: string
  /** What goes back. */
  readonly amount: Money
  /** `voided`: the charge was taken back before it was settled. */
  readonly status: 'succeeded' | 'pending' | 'failed' | 'voided'
  /** Why; null where no reason was given, or nobody kept it: Braintree has no place for that of a charge it takes back unsettled, so that a repeat knows it from the event alone. */
  readonly reason: RefundReason | null
  /** The provider's own object. */
  readonly raw: unknown
}
