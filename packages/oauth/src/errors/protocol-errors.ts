import { OAuthError, type OAuthErrorOptions } from './oauth-error.ts'

/** Something is missing, sent twice or malformed. */
export class InvalidRequest extends OAuthError {
  readonly code = 'invalid_request'
}

/** The client did not authenticate, or not as it has to. */
export class InvalidClient extends OAuthError {
  readonly code = 'invalid_client'
  override readonly status = 401
  readonly #challenge: boolean

  /** RFC 6749 §5.2: answer with a challenge when the client used the Authorization header. */
  constructor(message: string, options: OAuthErrorOptions & { challenge?: boolean } = {}) {
    super(message, options)
    this.#challenge = options.challenge ?? false
  }

  override headers(): Record<string, string> {
    return this.#challenge ? { 'www-authenticate': 'Basic realm="Tollgate", charset="UTF-8"' } : {}
  }
}

/** A code, refresh token or password that gives nothing; which check failed is not told. */
export class InvalidGrant extends OAuthError {
  readonly code = 'invalid_grant'
}

/** This client was not given that grant. */
export class UnauthorizedClient extends OAuthError {
  readonly code = 'unauthorized_client'
}

/** The `request` parameter of RFC 9101, where the server has no feature for it. */
export class RequestNotSupported extends OAuthError {
  readonly code = 'request_not_supported'
}

/** The `request_uri` parameter, where the server has no feature for it. */
export class RequestUriNotSupported extends OAuthError {
  readonly code = 'request_uri_not_supported'
}

/** A `request_uri` that is unknown, of another client, expired, or answered before. */
export class InvalidRequestUri extends OAuthError {
  readonly code = 'invalid_request_uri'
}

/** A request object (RFC 9101) that the client has not signed for this server, or that is not valid now. */
export class InvalidRequestObject extends OAuthError {
  readonly code = 'invalid_request_object'
}

/** The `registration` parameter of OpenID Connect Core §7.2.1. */
export class RegistrationNotSupported extends OAuthError {
  readonly code = 'registration_not_supported'
}

/** RFC 7591 §3.2.2: a redirect address that a client cannot register. */
export class InvalidRedirectUri extends OAuthError {
  readonly code = 'invalid_redirect_uri'
}

/** RFC 7591 §3.2.2: something else that a client says of itself and that cannot be, or not here. */
export class InvalidClientMetadata extends OAuthError {
  readonly code = 'invalid_client_metadata'
}

/** A `grant_type` that this server does not offer. */
export class UnsupportedGrantType extends OAuthError {
  readonly code = 'unsupported_grant_type'
}

/** A `response_type` that this server or this client does not have. */
export class UnsupportedResponseType extends OAuthError {
  readonly code = 'unsupported_response_type'
}

/** A scope that does not exist, or that this client may not have. */
export class InvalidScope extends OAuthError {
  readonly code = 'invalid_scope'
}

/** RFC 8707 §2: a `resource` that this server has no tokens for, or that was not granted. */
export class InvalidTarget extends OAuthError {
  readonly code = 'invalid_target'
}

/** The person said no. */
export class AccessDenied extends OAuthError {
  readonly code = 'access_denied'
}

/** RFC 8628 §3.5: the person has not decided yet; ask again after the interval. */
export class AuthorizationPending extends OAuthError {
  readonly code = 'authorization_pending'
}

/** RFC 8628 §3.5: the device asks too often; from now on the interval is five seconds longer. */
export class SlowDown extends OAuthError {
  readonly code = 'slow_down'
}

/** RFC 8628 §3.5: the device code has ended before it gave a token; the device may start again. */
export class ExpiredToken extends OAuthError {
  readonly code = 'expired_token'
}

/** `prompt=none` was asked for, and nobody is signed in. */
export class LoginRequired extends OAuthError {
  readonly code = 'login_required'
}

/** `prompt=none` was asked for, and the person would have to be asked first. */
export class ConsentRequired extends OAuthError {
  readonly code = 'consent_required'
}

/** A failure of our own. What it was stands in the log only. */
export class ServerError extends OAuthError {
  readonly code = 'server_error'
  override readonly status = 500
}

/** The database is away: nothing was done, try again. */
export class TemporarilyUnavailable extends OAuthError {
  readonly code = 'temporarily_unavailable'
  override readonly status = 503

  override headers(): Record<string, string> {
    return { 'retry-after': '1' }
  }
}

/** More than a limit allows: come again later. */
export class TooManyRequests extends OAuthError {
  readonly code = 'too_many_requests'
  override readonly status = 429
  /** After how many seconds it may be tried again; sent as `Retry-After`. */
  readonly retryAfterSeconds: number

  constructor(message: string, { milliseconds = 60_000 }: { readonly milliseconds?: number } = {}) {
    super(message)
    this.retryAfterSeconds = Math.max(1, Math.ceil(milliseconds / 1000))
  }

  override headers(): Record<string, string> {
    return { 'retry-after': String(this.retryAfterSeconds) }
  }
}
