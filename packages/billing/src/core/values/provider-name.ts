/**
 * The provider names that the compiler knows. A package with another provider may add its name:
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

/** Name of a payment provider. */
export type ProviderName = keyof ProviderNames & string
