/** The `error` values of RFC 6749, RFC 6750 and what came after them, then those of the JSON management routes. */
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
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'

/** What may stand beside the message of an error. */
export interface OAuthErrorOptions extends ErrorOptions {
  /** Sent beside the description: what the caller can do about it. */
  readonly hint?: string
}

/** `message` is sent as `error_description`; what only we may see goes in `cause`. */
export abstract class OAuthError extends Error {
  /**
   * The `error` that is sent. Tell errors apart by it: that works across bundles and copies of
   * this package.
   */
  abstract readonly code: OAuthErrorCode
  /** The HTTP status. */
  readonly status: number = 400
  /** What the caller can do about it; sent beside the description. */
  readonly hint: string | undefined

  constructor(message: string, options: OAuthErrorOptions = {}) {
    super(message, options)
    this.name = new.target.name
    this.hint = options.hint
  }

  /** Headers that go with it, such as a challenge. */
  headers(): Record<string, string> {
    return {}
  }

  /** What is sent as JSON. */
  body(): Record<string, unknown> {
    return {
      error: this.code,
      error_description: printable(this.message),
      ...(this.hint === undefined ? {} : { hint: printable(this.hint) }),
    }
  }
}

/**
 * Bundlers may load this package more than once in a process: Next's does, for route handlers and for
 * `instrumentation.ts`. An error of one copy is a OAuthError to the other as well.
 */
const BRAND = Symbol.for('@tollgate/oauth/OAuthError')
const sameCopy = Function.prototype[Symbol.hasInstance]
Object.defineProperty(OAuthError.prototype, BRAND, { value: true })
Object.defineProperty(OAuthError, Symbol.hasInstance, {
  value(this: unknown, thrown: unknown): boolean {
    if (this !== OAuthError) return sameCopy.call(this, thrown)
    if (typeof thrown !== 'object' || thrown === null) return false
    return BRAND in thrown && !Object.hasOwn(thrown, BRAND) // own: the prototype, no instance of it
  },
})

/** RFC 6749 §5.2 allows only printable ASCII without `"` and `\` in a description. */
export function printable(text: string): string {
  return text
    .replaceAll('"', "'")
    .replace(/[^\x20-\x5b\x5d-\x7e]/g, '?')
    .slice(0, 300)
}
