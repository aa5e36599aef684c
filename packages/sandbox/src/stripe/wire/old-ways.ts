/** What calls of older versions may do, and those of newer ones may not. Which versions is written in `versions/`. */
export type OldWay =
  /** Usage that is written down at the subscription's item, for metered prices without a meter. */
  | 'usage-records'
  /** A Checkout Session that makes its subscription before that is paid. */
  | 'subscription-before-payment'
  /** Usage of more than 15 digits. */
  | 'long-meter-values'
