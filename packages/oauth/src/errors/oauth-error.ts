/**
 * The `error` values of OAuth (RFC 6749, RFC 6750 and later), followed by those of the JSON
 * management routes.
 */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'login_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'invalid_request_uri'
  | 'invalid_request_object'
  | 'registration_not_supported'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'insufficient_user_authentication'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'too_many_requests'
  | 'unauthenticated'
  | 'csrf_mismatch'
  | 'not_found'
  | 'conflict'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'

/** Options of every OAuth error. */
export interface OAuthErrorOptions extends ErrorOptions {
  /** Advice for the caller, sent along with the description. */
  readonly hint?: string
}

/**
 * Base class of all errors that callers receive. `message` is sent as `error_description`; keep
 * internal details in `cause`.
 */
export abstract class OAuthError extends Error {
  /**
   * The `error` that is sent. Compare this rather than the class: it also works across bundles and
   * copies of this package.
   */
  abstract readonly code: OAuthErrorCode
  /** The HTTP status of the response. */
  readonly status: number = 400
  /** Advice for the caller, sent along with the description. `undefined` for none. */
  readonly hint: string | undefined

  constructor(message: string, options: OAuthErrorOptions = {}) {
    super(message, options)
    this.name = new.target.name
    this.hint = options.hint
  }

  /** Returns the headers of the response, such as a challenge. */
  headers(): Record<string, string> {
    return {}
  }

  /** Returns the JSON body of the response. */
  body(): Record<string, unknown> {
    return {
      error: this.code,
      error_description: toPrintable(this.message),
      ...(this.hint === undefined ? {} : { hint: toPrintable(this.hint) }),
    }
  }
}

/**
 * Makes `instanceof OAuthError` true for errors of another copy of this package. A bundler may load
 * it twice in one process: Next.js does, for route handlers and for `instrumentation.ts`.
 */
const BRAND = Symbol.for('@tollgate/oauth/OAuthError')
const sameCopy = Function.prototype[Symbol.hasInstance]
Object.defineProperty(OAuthError.prototype, BRAND, { value: true })
Object.defineProperty(OAuthError, Symbol.hasInstance, {
  value(this: unknown, thrown: unknown): boolean {
    if (this !== OAuthError) return sameCopy.call(this, thrown)
    if (typeof thrown !== 'object' || thrown === null) return false
    return BRAND in thrown && !Object.hasOwn(thrown, BRAND) // the prototype itself is not an instance
  },
})

/**
 * Creates a base class for the errors with this code and HTTP status.
 * @example
 * export class InvalidClient extends defineError('invalid_client', 401) {}
 */
export function defineError<Code extends OAuthErrorCode, Status extends number>(
  code: Code,
  status: Status,
  Base: typeof OAuthError = OAuthError,
): abstract new (
  message: string,
  options?: OAuthErrorOptions,
) => OAuthError & { readonly code: Code; readonly status: Status } {
  abstract class CodedError extends Base {
    readonly code = code
    override readonly status = status
  }
  return CodedError
}

/**
 * Replaces the characters that an `error_description` must not contain: anything but printable
 * ASCII, `"` and `\` (RFC 6749 §5.2). Cuts the text after 300 characters.
 */
export function toPrintable(text: string): string {
  return text
    .replaceAll('"', "'")
    .replace(/[^\x20-\x5b\x5d-\x7e]/g, '?')
    .slice(0, 300)
}
