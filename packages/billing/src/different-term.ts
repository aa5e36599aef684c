/** A term of `newSubscription()`, by the name that the builder has for it. */
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

/** A term of a running subscription that another `create()` under its name wanted otherwise. */
export interface DifferentTerm {
  /** Which term it is. */
  readonly term: SubscriptionTerm
  /** Value in force, for people. */
  readonly inForce: string
  /** Value that was asked for, for people. */
  readonly wanted: string
  /** Method that makes the change, such as `swap()`. */
  readonly use: string
}
