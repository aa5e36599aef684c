import { defineError, type OAuthErrorOptions } from './oauth-error.ts'

/** A parameter is missing, repeated or malformed. */
export class InvalidRequest extends defineError('invalid_request') {}

/** The client did not authenticate, or not in the required way. */
export class InvalidClient extends defineError('invalid_client') {
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
export class InvalidGrant extends defineError('invalid_grant') {}

/** The client may not use the grant type or response type that it requested. */
export class UnauthorizedClient extends defineError('unauthorized_client') {}

/** The request has a `request` parameter (RFC 9101), but no feature supports it. */
export class RequestNotSupported extends defineError('request_not_supported') {}

/** The request has a `request_uri` parameter, but no feature supports it. */
export class RequestUriNotSupported extends defineError('request_uri_not_supported') {}

/** The `request_uri` is unknown, expired, already used, or belongs to another client. */
export class InvalidRequestUri extends defineError('invalid_request_uri') {}

/** A request object (RFC 9101) is expired, not for this server, or not signed by the client. */
export class InvalidRequestObject extends defineError('invalid_request_object') {}

/**
 * The request has a `registration` parameter (OpenID Connect Core §7.2.1), which is not supported.
 */
export class RegistrationNotSupported extends defineError('registration_not_supported') {}

/** A redirect URI cannot be registered (RFC 7591 §3.2.2). */
export class InvalidRedirectUri extends defineError('invalid_redirect_uri') {}

/**
 * Client metadata other than a redirect URI is invalid, or this server does not allow it (RFC 7591
 * §3.2.2).
 */
export class InvalidClientMetadata extends defineError('invalid_client_metadata') {}

/** This server does not offer the `grant_type`. */
export class UnsupportedGrantType extends defineError('unsupported_grant_type') {}

/** This server does not offer the `response_type`. */
export class UnsupportedResponseType extends defineError('unsupported_response_type') {}

/** A scope does not exist, or this client may not have it. */
export class InvalidScope extends defineError('invalid_scope') {}

/** A `resource` is unknown to this server, or was not granted (RFC 8707 §2). */
export class InvalidTarget extends defineError('invalid_target') {}

/** The person denied the request. */
export class AccessDenied extends defineError('access_denied') {}

/**
 * The person has not decided yet; the device should repeat the request after the interval (RFC 8628
 * §3.5).
 */
export class AuthorizationPending extends defineError('authorization_pending') {}

/** The device sends requests too often; its interval is now five seconds longer (RFC 8628 §3.5). */
export class SlowDown extends defineError('slow_down') {}

/** The device code has expired; the device may start a new flow (RFC 8628 §3.5). */
export class ExpiredToken extends defineError('expired_token') {}

/**
 * The person has to sign in, but the request forbids showing a page (`prompt=none`). Or the person
 * has signed in, but not as the request demands.
 */
export class LoginRequired extends defineError('login_required') {}

/**
 * The person has to approve the request, but the request forbids showing a page (`prompt=none`).
 */
export class ConsentRequired extends defineError('consent_required') {}

/** An internal error. Its details are only in the log. */
export class ServerError extends defineError('server_error') {}

/**
 * The server cannot handle the request at present, for example because the database is down.
 * Nothing was changed; repeat the request.
 */
export class TemporarilyUnavailable extends defineError('temporarily_unavailable') {
  override headers(): Record<string, string> {
    return { 'retry-after': '1' }
  }
}

/** The caller has exceeded a limit and should retry later. */
export class TooManyRequests extends defineError('too_many_requests') {
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
