import { recognizeCopies } from '@tollgate/http'

/** The HTTP status of the response, by the `error` that is sent. */
const STATUS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  access_denied: 400,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  login_required: 400,
  consent_required: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  invalid_request_uri: 400,
  invalid_request_object: 400,
  registration_not_supported: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  invalid_dpop_proof: 400,
  use_dpop_nonce: 400,
  insufficient_user_authentication: 401,
  server_error: 500,
  temporarily_unavailable: 503,
  too_many_requests: 429,
  unauthenticated: 401,
  csrf_mismatch: 403,
  not_found: 404,
  conflict: 409,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
} as const

/**
 * The `error` values of OAuth (RFC 6749, RFC 6750 and later), followed by those of the JSON
 * management routes.
 */
export type OAuthErrorCode = keyof typeof STATUS

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

recognizeCopies(OAuthError, '@tollgate/oauth/OAuthError')

/**
 * Makes the base class of errors with this code and its HTTP status.
 * @example
 * export class InvalidClient extends defineError('invalid_client') {}
 */
export function defineError<Code extends OAuthErrorCode>(
  code: Code,
  Base: typeof OAuthError = OAuthError,
): abstract new (
  message: string,
  options?: OAuthErrorOptions,
) => OAuthError & { readonly code: Code; readonly status: (typeof STATUS)[Code] } {
  abstract class CodedError extends Base {
    override readonly code = code
    override readonly status = STATUS[code]
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
