import { BillingError, type BillingErrorCode } from './errors.ts'

/** Any error of billing. `switch` on `code` to narrow the type. */
export type AnyBillingError = typeof import('./errors.ts') &
  typeof import('./payment-errors.ts') extends infer Exported
  ? {
      [Name in keyof Exported]: Exported[Name] extends (new (
        ...args: never
      ) => infer Thrown extends BillingError)
        ? Thrown
        : never
    }[keyof Exported]
  : never

/** The error class that has this code. */
export type BillingErrorOf<Code extends BillingErrorCode> = Extract<
  AnyBillingError,
  { readonly code: Code }
>

/**
 * Whether an error was thrown by billing and, if given, has this code. Prefer it to `instanceof`
 * with a specific class: bundlers may load this package more than once, and each copy has its own
 * classes.
 * @example
 * if (isBillingError(error, 'payment_failed')) showDecline(error.declineCode)
 */
export function isBillingError<Code extends BillingErrorCode = BillingErrorCode>(
  error: unknown,
  code?: Code,
): error is BillingErrorOf<Code> {
  return error instanceof BillingError && (code === undefined || error.code === code)
}
