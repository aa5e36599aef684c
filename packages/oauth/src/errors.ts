/** Every error that callers can meet, and how they are told apart. */
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

/** An error by its code: with what its class knows besides, where it knows more. */
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
 * Whether something thrown is an error of this package, of whatever copy, and has the code if one is named.
 * @example
 * if (isOAuthError(error, 'validation_failed')) showFields(error.errors)
 */
export function isOAuthError<Code extends OAuthErrorCode = OAuthErrorCode>(
  thrown: unknown,
  code?: Code,
): thrown is OAuthErrorOf<Code> {
  return thrown instanceof OAuthError && (code === undefined || thrown.code === code)
}
