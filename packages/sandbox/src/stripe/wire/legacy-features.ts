/**
 * Features of older API versions that newer versions do not have. The code in `versions/`
 * determines which versions have them.
 */
export type LegacyFeature =
  /** Usage records per subscription item, for metered prices without a meter. */
  | 'usage-records'
  /** A Checkout Session that makes its subscription before that is paid. */
  | 'subscription-before-payment'
  /** Usage of more than 15 digits. */
  | 'long-meter-values'
