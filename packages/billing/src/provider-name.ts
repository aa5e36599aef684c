/**
 * The providers whose names the compiler knows. A package that adds a provider may add its name:
 * @example
 * declare module '@tollgate/billing' {
 *   interface ProviderNames {
 *     readonly paddle: unknown
 *   }
 * }
 */
export interface ProviderNames {
  /** Stripe. */
  readonly stripe: unknown
  /** Braintree. */
  readonly braintree: unknown
}

/** Where a user pays. */
export type ProviderName = keyof ProviderNames & string
