/** A term of `newSubscription()`, named like the builder's method or argument. */
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
  /** The method that makes the change, such as `swap()`. */
  readonly use: string
}
