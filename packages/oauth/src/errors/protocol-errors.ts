import { defineError, type OAuthErrorOptions } from './oauth-error.ts'

/** A parameter is missing, repeated or malformed. */
export class InvalidRequest extends defineError('invalid_request', 400) {}

/** The client did not authenticate, or not in the required way. */
export class InvalidClient extends defineError('invalid_client', 401) {
  readonly #challenge: boolean

  /**
   * Set `challenge` if the client used the Authorization header: the response then has a
   * WWW-Authenticate challenge (RFC 6749 §5.2).
   */
  constructor(message: string, options: OAuthErrorOptions & { challenge?: boolean } = {}) {
    super(message, options)
    this.#challenge = options.challenge ?? false
  }

  override headers(): Record<string, string> {
    return this.#challenge ? { 'www-authenticate': 'Basic realm="Tollgate", charset="UTF-8"' } : {}
  }
}

/** A code, refresh token or password is invalid. The message does not reveal which check failed. */
export class InvalidGrant extends defineError('invalid_grant', 400) {}

/** The client may not use the grant type or response type that it requested. */
export class UnauthorizedClient extends defineError('unauthorized_client', 400) {}

/** The request has a `request` parameter (RFC 9101), but no feature supports it. */
export class RequestNotSupported extends defineError('request_not_supported', 400) {}

/** The request has a `request_uri` parameter, but no feature supports it. */
export class RequestUriNotSupported extends defineError('request_uri_not_supported', 400) {}

/** The `request_uri` is unknown, expired, already used, or belongs to another client. */
export class InvalidRequestUri extends defineError('invalid_request_uri', 400) {}

/** A request object (RFC 9101) is expired, not for this server, or not signed by the client. */
export class InvalidRequestObject extends defineError('invalid_request_object', 400) {}

/**
 * The request has a `registration` parameter (OpenID Connect Core §7.2.1), which is not supported.
 */
export class RegistrationNotSupported extends defineError('registration_not_supported', 400) {}

/** A redirect URI cannot be registered (RFC 7591 §3.2.2). */
export class InvalidRedirectUri extends defineError('invalid_redirect_uri', 400) {}

/**
 * Client metadata other than a redirect URI is invalid, or this server does not allow it (RFC 7591
 * §3.2.2).
 */
export class InvalidClientMetadata extends defineError('invalid_client_metadata', 400) {}

/** This server does not offer the `grant_type`. */
export class UnsupportedGrantType extends defineError('unsupported_grant_type', 400) {}

/** This server does not offer the `response_type`. */
export class UnsupportedResponseType extends defineError('unsupported_response_type', 400) {}

/** A scope does not exist, or this client may not have it. */
export class InvalidScope extends defineError('invalid_scope', 400) {}

/** A `resource` is unknown to this server, or was not granted (RFC 8707 §2). */
export class InvalidTarget extends defineError('invalid_target', 400) {}

/** The person denied the request. */
export class AccessDenied extends defineError('access_denied', 400) {}

/**
 * The person has not decided yet; the device should repeat the request after the interval (RFC 8628
 * §3.5).
 */
export class AuthorizationPending extends defineError('authorization_pending', 400) {}

/** The device sends requests too often; its interval is now five seconds longer (RFC 8628 §3.5). */
export class SlowDown extends defineError('slow_down', 400) {}

/** The device code has expired; the device may start anew (RFC 8628 §3.5). */
export class ExpiredToken extends defineError('expired_token', 400) {}

/**
 * The person has to sign in, but the request forbids showing a page (`prompt=none`). Or the person
 * has signed in, but not as the request demands.
 */
export class LoginRequired extends defineError('login_required', 400) {}

/**
 * The person has to approve the request, but the request forbids showing a page (`prompt=none`).
 */
export class ConsentRequired extends defineError('consent_required', 400) {}

/** An internal error. Its details are only in the log. */
export class ServerError extends defineError('server_error', 500) {}

/**
 * The server cannot handle the request at present, for example because the database is down.
 * Nothing was changed; repeat the request.
 */
export class TemporarilyUnavailable extends defineError('temporarily_unavailable', 503) {
  override headers(): Record<string, string> {
    return { 'retry-after': '1' }
  }
}

/** The caller has exceeded a limit and should retry later. */
export class TooManyRequests extends defineError('too_many_requests', 429) {
  /** Seconds until a retry makes sense, sent as `Retry-After`. */
  readonly retryAfterSeconds: number

  constructor(message: string, { milliseconds = 60_000 }: { readonly milliseconds?: number } = {}) {
    super(message)
    this.retryAfterSeconds = Math.max(1, Math.ceil(milliseconds / 1000))
  }

  override headers(): Record<string, string> {
    return { 'retry-after': String(this.retryAfterSeconds) }
  }
}
