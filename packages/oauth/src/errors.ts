/** All error classes that callers can meet, and the functions that tell them apart. */
import type {
  InsufficientScope,
  InsufficientUserAuthentication,
  UseDpopNonce,
} from './errors/guard-errors.ts'
import type { ValidationFailed } from './errors/management-errors.ts'
import { OAuthError, type OAuthErrorCode } from './errors/oauth-error.ts'

export * from './errors/guard-errors.ts'
export * from './errors/management-errors.ts'
export * from './errors/oauth-error.ts'
export * from './errors/protocol-errors.ts'

/** The error type for an error code. Codes whose class has additional fields map to that class. */
export type OAuthErrorOf<Code extends OAuthErrorCode> = Code extends 'validation_failed'
  ? ValidationFailed
  : Code extends 'insufficient_scope'
    ? InsufficientScope
    : Code extends 'insufficient_user_authentication'
      ? InsufficientUserAuthentication
      : Code extends 'use_dpop_nonce'
        ? UseDpopNonce
        : OAuthError & { readonly code: Code }

/**
 * Whether a thrown value is an error of this package, even if another copy of the package threw it.
 * If `code` is given, the error must also have that code.
 * @example
 * if (isOAuthError(error, 'validation_failed')) showFields(error.errors)
 */
export function isOAuthError<Code extends OAuthErrorCode = OAuthErrorCode>(
  thrown: unknown,
  code?: Code,
): thrown is OAuthErrorOf<Code> {
  return thrown instanceof OAuthError && (code === undefined || thrown.code === code)
}
