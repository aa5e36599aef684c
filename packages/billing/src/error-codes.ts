import type * as errors from './errors.ts'
import { BillingError } from './errors.ts'
import type { PaymentActionRequired, PaymentFailed } from './payment-errors.ts'

type Errors = Omit<typeof errors, 'BillingError' | 'ProviderError' | 'isFinal'> & {
  readonly PaymentFailed: typeof PaymentFailed
  readonly PaymentActionRequired: typeof PaymentActionRequired
}

type AnyError = InstanceType<Errors[keyof Errors]>

/** The class of an error, by its code. */
export type BillingErrorOf<Code extends errors.BillingErrorCode> = Extract<
  AnyError,
  { readonly code: Code }
>

/**
 * Whether this was thrown by billing, for this reason. By the code and not by the class, because a bundler
 * may load this package more than once, and each copy has classes of its own.
 * @example
 * if (isBillingError(error, 'payment_failed')) showDecline(error.declineCode)
 */
export function isBillingError<Code extends errors.BillingErrorCode>(
  error: unknown,
  code: Code,
): error is BillingErrorOf<Code> {
  return error instanceof BillingError && error.code === code
}
