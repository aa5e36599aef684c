/** A term of a new subscription, such as its plan, coupon or trial. */
export type SubscriptionTerm =
  | 'provider'
  | 'plan'
  | 'quantity'
  | 'price'
  | 'coupon'
  | 'promotionCode'
  | 'trial'
  | 'anchorOn'
  | 'backdate'
  | 'noProrate'
  | 'tax'
  | 'card'
  | 'cancellation'

/**
 * A difference between a running subscription and the terms that a second `create()` under the same
 * name requested.
 */
export interface DifferentTerm {
  /** The term that differs. */
  readonly term: SubscriptionTerm
  /** The current value, as readable text. */
  readonly inForce: string
  /** The requested value, as readable text. */
  readonly wanted: string
  /**
   * The method that changes the running subscription to the requested value, such as `swap()`, or
   * advice to create a new subscription.
   */
  readonly use: string
}
